"""Keeping the model's key out of the process's environment (ENV-2).

A variable that a process is started with stays readable in `/proc/<pid>/environ` for every command
the agent runs, even when the process forgets it. So the process starts itself anew without the
variable and hands the key over in a pipe.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

from remit.harness.settings import API_KEY, PREFIX, SettingsError

_HANDED_OVER = f"{PREFIX}API_KEY_FD"
_LONGEST = 4096


def take_key(environment: MutableMapping[str, str]) -> str | None:
    """The model's key, if there is one; afterwards it is in no environment.

    Where the environment holds the key, this call does not return: the program begins again.

    Raises:
        SettingsError: The key is too long to be one.
    """
    handed_over = environment.pop(_HANDED_OVER, None)
    if handed_over is not None:
        with os.fdopen(int(handed_over), "rb") as pipe:
            return pipe.read().decode("utf-8", "surrogateescape") or None
    key = environment.pop(API_KEY, "")
    if key:
        _start_anew(key.encode("utf-8", "surrogateescape"), environment)
    return None


def _start_anew(key: bytes, environment: MutableMapping[str, str]) -> None:
    if len(key) > _LONGEST:
        raise SettingsError(f"{API_KEY} holds more than {_LONGEST} bytes, which is no key")
    read_end, write_end = os.pipe()
    os.write(write_end, key)
    os.close(write_end)
    os.set_inheritable(read_end, True)
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, command, {**environment, _HANDED_OVER: str(read_end)})  # noqa: S606 -- it is this very program
