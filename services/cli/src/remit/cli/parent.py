"""Children that end with the process that started them, whatever ends it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1

# Waits until its input ends: with a byte when the child stopped as it should, without one when
# whoever held the other end has died.
_WATCHDOG = "import os, sys; os.read(0, 1) or os.kill(int(sys.argv[1]), 9)"

KERNEL_TELLS = sys.platform == "linux"
"""Whether the kernel ends a child with its parent; elsewhere a process watches."""


def die_with_parent() -> Callable[[], None]:
    """Return what a child calls before it becomes its program, on Linux."""
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def ask_kernel() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return ask_kernel


def watch(pid: int) -> subprocess.Popen[bytes]:
    """Start a process that kills ``pid`` once this process is gone.

    A byte on its input ends it without harm.
    """
    return subprocess.Popen(  # noqa: S603 - this Python, and nothing from outside
        [sys.executable, "-I", "-c", _WATCHDOG, str(pid)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
