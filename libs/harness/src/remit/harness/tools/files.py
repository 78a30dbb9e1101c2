"""Changing a file so that it is whole at every moment."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from remit.harness.tools.errors import FileError


def read_text(path: Path, shown: str) -> str:
    """A whole text file, its line ends as they are.

    Raises:
        FileError: It cannot be read, or it is not UTF-8 text.
    """
    if path.exists() and not path.is_file():
        raise FileError(f"{shown} is not a regular file")
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise FileError(f"{shown} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise FileError(f"{shown} is not UTF-8 text") from None


def replace_text(path: Path, shown: str, text: str) -> bool:
    """Put a text in the place of a file; it is there in full or not at all.

    Returns:
        Whether the file is new.

    Raises:
        FileError: It cannot be written; what was there is still there.
    """
    if path.exists() and not path.is_file():
        raise FileError(f"{shown} is not a regular file")
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FileError(f"{shown} cannot hold a text with lone surrogates") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        _write_beside(path, data, mode)
    except OSError as error:
        raise FileError(f"{shown} cannot be written: {error.strerror}") from error
    return mode is None


def _write_beside(path: Path, data: bytes, mode: int | None) -> None:
    beside = path.with_name(f".{path.name[:64]}.{secrets.token_hex(8)}.tmp")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.fchmod(handle, mode)
            file.write(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
