from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.log.place import directory_slug, escape, session_folder


@pytest.mark.parametrize(
    ("cwd", "slug"),
    [
        ("/tmp/ws", "--tmp-ws--"),
        ("/", "----"),
        ("/a//b/", "--a-b--"),
        ("/tmp/w s~é你.😀/a__b--c", "--tmp-w~0020s~007E~00E9~4F60.~D83D~DE00-a__b--c--"),
    ],
)
def test_a_directory_has_a_readable_slug(cwd: str, slug: str) -> None:
    assert directory_slug(cwd) == slug


def test_a_long_slug_is_cut_to_what_file_systems_take() -> None:
    assert len(directory_slug("/" + "x" * 200 + "/" + "y" * 200)) == 255


@given(st.text(max_size=8), st.text(max_size=8))
def test_two_session_ids_never_share_a_folder(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one == other)


@given(st.text(min_size=1))
def test_a_session_folder_never_leaves_the_home(session_id: str) -> None:
    home = Path("/home/remit")
    folder = session_folder(home, "/../..", session_id)
    assert folder.parent.parent == home / "sessions"
    assert ".." not in folder.parts
