"""Write the locked requirements, or check that they are current.

``requirements/all.txt`` holds everything, with the development tools; one file for each service,
for ``remit-agent`` and for the command holds what that part needs to run, in the same versions.
All are valid for every supported Python and platform, name no index and no path, and carry hashes.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = "3.11"
HEADER = "# Written by `make lock`; change a pyproject.toml instead.\n"


@dataclass(frozen=True)
class Lock:
    """One file of locked requirements.

    Attributes:
        name: The file, without its ending.
        inputs: The pyproject files it is compiled from, relative to the root.
        options: More options for the compiler.
        constrained: Whether its versions follow ``all.txt``.
    """

    name: str
    inputs: tuple[str, ...]
    options: tuple[str, ...] = ()
    constrained: bool = True


def locks() -> list[Lock]:
    """Return every file of locked requirements; ``all`` comes first."""
    members = sorted(
        str(path.relative_to(ROOT))
        for folder in ("libs", "services")
        for path in (ROOT / folder).glob("*/pyproject.toml")
    )
    whole = Lock("all", ("pyproject.toml", *members), ("--group", "dev"), constrained=False)
    services = [
        Lock(path.split("/")[1], (path,)) for path in members if path.startswith("services/")
    ]
    agent = Lock("remit-agent", ("libs/harness/pyproject.toml",))
    installer = Lock("uv", (), ("--group", "uv"))
    return [whole, *services, agent, installer]


def compile_into(folder: Path, lock: Lock) -> None:
    """Compile one file in ``folder``, which holds the versions to keep where they still fit."""
    own = [option for name in own_names() for option in ("--no-emit-package", name)]
    constraint = ["--constraint", str(folder / "all.txt")] if lock.constrained else []
    target = folder / f"{lock.name}.txt"
    subprocess.run(  # noqa: S603
        [
            str(uv()),
            *("pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header"),
            *("--python-version", OLDEST_PYTHON, "--no-annotate"),
            *("--no-emit-index-url", "--no-emit-find-links"),
            *own,
            *constraint,
            *lock.options,
            *lock.inputs,
            *("--output-file", str(target)),
        ],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    target.write_text(HEADER + target.read_text())


def uv() -> Path:
    """Return uv, from beside this interpreter."""
    return Path(sys.executable).parent / "uv"


def own_names() -> list[str]:
    """Return the names of the workspace's own distributions."""
    paths = [*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml")]
    return sorted(tomllib.loads(path.read_text())["project"]["name"] for path in paths)


def write(*, upgrade: bool) -> int:
    """Write every file, and drop those that no longer belong; return the exit status."""
    folder = ROOT / "requirements"
    folder.mkdir(exist_ok=True)
    wanted = locks()
    names = {f"{lock.name}.txt" for lock in wanted}
    for stale in folder.glob("*.txt"):
        if upgrade or stale.name not in names:
            stale.unlink()
    for lock in wanted:
        compile_into(folder, lock)
    return 0


def check() -> int:
    """Compile again beside the files and compare; return the exit status."""
    folder = ROOT / "requirements"
    stale = False
    with tempfile.TemporaryDirectory() as fresh:
        for lock in locks():
            kept = folder / f"{lock.name}.txt"
            copy = Path(fresh) / kept.name
            if kept.exists():
                shutil.copyfile(kept, copy)
            compile_into(Path(fresh), lock)
            before = kept.read_text() if kept.exists() else ""
            if copy.read_text() != before:
                stale = True
                lines = difflib.unified_diff(
                    before.splitlines(), copy.read_text().splitlines(), kept.name, "needed", n=0
                )
                print("\n".join(line for line in lines if "--hash" not in line))
    if stale:
        print("The locked requirements are not current: run 'make lock'.", file=sys.stderr)
    return int(stale)


def main() -> int:
    """Do what the command line asks; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    asked = parser.parse_args()
    # A setting of the machine must not decide what is written.
    os.environ["UV_CUSTOM_COMPILE_COMMAND"] = "make lock"
    return check() if asked.check else write(upgrade=asked.upgrade)


if __name__ == "__main__":
    sys.exit(main())
