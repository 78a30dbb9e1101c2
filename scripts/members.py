"""Print the workspace folders that a distribution is made of: its own, and those it depends on."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"[A-Za-z0-9._-]+")


def distributions(root: Path) -> dict[str, tuple[Path, list[str]]]:
    """Return each distribution's folder and the names of what it depends on."""
    found = {}
    for path in sorted(
        [*root.glob("libs/*/pyproject.toml"), *root.glob("services/*/pyproject.toml")]
    ):
        project = tomllib.loads(path.read_text())["project"]
        needs = [match.group() for one in project["dependencies"] if (match := NAME.match(one))]
        found[project["name"]] = (path.parent, needs)
    return found


def members(name: str, root: Path = ROOT) -> list[Path]:
    """Return the folders of ``name`` and of every distribution of ours that it needs.

    Raises:
        KeyError: There is no such distribution.
    """
    every = distributions(root)
    wanted = [name]
    for one in wanted:
        wanted += [need for need in every[one][1] if need in every and need not in wanted]
    return sorted(every[one][0] for one in wanted)


def main() -> int:
    """Print the folders of the distributions named on the command line; return the exit status."""
    try:
        folders = {folder for name in sys.argv[1:] for folder in members(name)}
    except KeyError as unknown:
        print(
            f"there is no distribution {unknown}; there are {', '.join(distributions(ROOT))}",
            file=sys.stderr,
        )
        return 1
    print("\n".join(str(folder.relative_to(ROOT)) for folder in sorted(folders)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
