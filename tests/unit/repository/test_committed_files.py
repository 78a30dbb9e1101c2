"""What is committed names no machine: no registry's host and no path outside the project."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Joined here so that this file does not hold what it looks for.
FORBIDDEN = {
    "a package index": "|".join(("pypi" + r"\.org", "python" + "hosted", "registry" + r"\.npmjs")),
    "an index option of an installer": r"--(?:extra-)?" + "index-url|--find" + "-links",
    "an index setting": r"\b(?:PIP|UV)_(?:EXTRA_)?(?:DEFAULT_)?" + "INDEX",
    "a lock file's address of a package": r'"resolved":\s*' + '"http',
    "a home folder": r"/(?:root|home/[a-z]+)/" + r"\.",
    "a folder of one machine": r"(?<![\w.~-])/(?:work|workspace)/" + r"(?:main|shared)",
}


def committed() -> list[Path]:
    """Return the files that are, or are about to be, committed."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def found_in(text: str) -> list[str]:
    return [what for what, pattern in FORBIDDEN.items() if re.search(pattern, text)]


def test_no_committed_file_names_a_registry_or_a_machine() -> None:
    named = {}
    for path in committed():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        if found := found_in(text):
            named[str(path.relative_to(ROOT))] = found
    assert named == {}


@pytest.mark.parametrize(
    "text",
    [
        "--index" + "-url https://example.org/simple",
        "https://files.python" + "hosted.org/x",
        '"resolved"' + ': "https://example.org/x.tgz"',
        "see /work" + "/main/libs",
        "/root" + "/.cache",
        "UV_" + "INDEX_URL=x",
    ],
)
def test_what_must_not_be_committed_is_recognised(text: str) -> None:
    assert found_in(text)


def test_the_lock_file_that_names_registries_is_not_committed() -> None:
    assert ROOT / "uv.lock" not in committed()
