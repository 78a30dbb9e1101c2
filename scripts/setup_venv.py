"""Bring ``.venv`` in line with the locked requirements; nothing is done when it already is.

Runs on the bare interpreter, so it uses the standard library only. It needs no settings: package
indexes and certificates are taken from the user's own configuration of pip and uv.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)
NEWEST = (3, 13)

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"


class SetUpFailed(Exception):
    """The environment cannot be made; the message says what to do."""


def main() -> int:
    """Make the environment; return the exit status."""
    place = Path(os.environ.get("REMIT_VENV") or ROOT / ".venv")
    try:
        check_version(sys.version_info[:2], sys.executable)
        if up_to_date(place):
            return 0
        install(place)
    except SetUpFailed as problem:
        print(f"setup: {problem}", file=sys.stderr)
        return 1
    return 0


def check_version(found: "tuple[int, int]", interpreter: str) -> None:
    """Refuse an interpreter that Remit does not support.

    Raises:
        SetUpFailed: It is too old or too new.
    """
    if not OLDEST <= tuple(found) <= NEWEST:
        oldest, newest, this = (".".join(map(str, v)) for v in (OLDEST, NEWEST, found))
        raise SetUpFailed(
            f"Remit needs Python {oldest} to {newest}, and {interpreter} is {this}. "
            f"Name another one: make setup PYTHON=python{oldest}"
        )


def members() -> "list[Path]":
    """Return the folders of the workspace's distributions."""
    found = [*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml")]
    return sorted(path.parent for path in found)


def digest() -> str:
    """Return a digest of all that decides what the environment holds."""
    inputs = [
        Path(__file__),
        REQUIREMENTS / "all.txt",
        REQUIREMENTS / "uv.txt",
        *(folder / "pyproject.toml" for folder in members()),
    ]
    found = hashlib.sha256(f"{ROOT} {sys.version}".encode())
    for path in inputs:
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def up_to_date(place: Path) -> bool:
    """Say whether the environment was made from just these inputs."""
    stamp = place / "remit-setup"
    return stamp.is_file() and stamp.read_text() == digest() and python_of(place).exists()


def python_of(place: Path) -> Path:
    """Return the environment's interpreter."""
    return place / "bin" / "python"


def install(place: Path) -> None:
    """Install everything into the environment at ``place``, making it first where it is missing."""
    python = python_of(place)
    if version_of(python) != sys.version:
        say(f"making {place.name} with {sys.executable}")
        make(place)
    uv = place / "bin" / "uv"
    # pip may still ask its index for a newer self, and a cap of the machine's own must not matter.
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    say("installing uv")
    run([*pip, "install", "--require-hashes", "-r", str(REQUIREMENTS / "uv.txt")])
    environment = {**os.environ, "VIRTUAL_ENV": str(place)}
    say("installing the locked requirements")
    run(
        [str(uv), "pip", "sync", "--quiet", "--require-hashes", str(REQUIREMENTS / "all.txt")],
        environment,
    )
    say("installing the workspace")
    editable = [part for folder in members() for part in ("--editable", str(folder))]
    run([str(uv), "pip", "install", "--quiet", "--no-deps", *editable], environment)
    (place / "remit-setup").write_text(digest())


def make(place: Path) -> None:
    """Make an empty environment with pip.

    Raises:
        SetUpFailed: This Python cannot make one.
    """
    try:
        venv.EnvBuilder(clear=True, symlinks=True, with_pip=True).create(place)
    except (subprocess.CalledProcessError, OSError) as error:
        raise SetUpFailed(
            f"{sys.executable} cannot make a virtual environment ({error}). On Debian and "
            "Ubuntu install python3-venv, or name another Python: make setup PYTHON=python3.12"
        ) from error


def version_of(python: Path) -> str:
    """Return what the interpreter says of itself; empty where it does not run."""
    try:
        asked = subprocess.run(  # noqa: S603
            [str(python), "-c", "import sys; print(sys.version)"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return asked.stdout.removesuffix("\n")


def run(command: "list[str]", environment: "dict[str, str] | None" = None) -> None:
    """Run one step.

    Raises:
        SetUpFailed: It did not succeed; its own words are on the terminal.
    """
    done = subprocess.run(command, env=environment, check=False)  # noqa: S603
    if done.returncode != 0:
        raise SetUpFailed(f"this step failed: {' '.join(command[:4])} ...")


def say(what: str) -> None:
    """Tell what is being done."""
    print(f"setup: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
