from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "check_docs.py"


@pytest.fixture
def check_docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_docs", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("[a](other.md)", []),
        ("[a](other.md#how-it-is-run)", []),
        ("[a](#here)\n\n# Here\n", []),
        ("[a](https://example.org/x)", []),
        ("[a](mailto:a@example.org)", []),
        ("```\n[a](nowhere.md)\n```\n", []),
        ("[a](nowhere.md)", ["nowhere.md is not there"]),
        ("![a](nowhere.png)", ["nowhere.png is not there"]),
        ("[a](other.md#there)", ["other.md has no heading #there"]),
        ("[a](#there)", ["page.md has no heading #there"]),
    ],
)
def test_a_link_that_leads_nowhere_is_found(
    check_docs: ModuleType, tmp_path: Path, text: str, problems: list[str]
) -> None:
    (tmp_path / "other.md").write_text("## How it is run\n")
    page = tmp_path / "page.md"
    page.write_text(text)
    assert list(check_docs.broken_links(page)) == problems
