"""Check that every link in the documentation leads somewhere: to a file, and to a heading in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"^[a-z][a-z+.-]*:")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)


def documents(root: Path) -> list[Path]:
    """Return the pages that people read."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def anchors(text: str) -> set[str]:
    """Return what a page's headings are called in addresses, as code hosts make it."""
    names = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(text))
    return {name.replace(" ", "-") for name in names}


def broken_links(page: Path) -> Iterator[str]:
    """Yield what is wrong with the links of a page."""
    text = FENCE.sub("", page.read_text())
    for target in LINK.findall(text):
        if ADDRESS.match(target):
            continue
        path, _, anchor = unquote(target).partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.exists():
            yield f"{path} is not there"
        elif anchor and found.suffix == ".md" and anchor not in anchors(found.read_text()):
            yield f"{path or page.name} has no heading #{anchor}"


def main() -> int:
    """Check every page; return the exit status."""
    wrong = [
        f"{page.relative_to(ROOT)}: {problem}"
        for page in documents(ROOT)
        for problem in broken_links(page)
    ]
    print("\n".join(wrong) or "every link leads somewhere")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
