"""What the model calls an MCP tool (WSC-6).

A public name is a pure function of the server's name and the tool's own: nothing parses it back.
Its server is the text between `mcp__` and the first `__` after it, so a server's name holds none.
"""

from __future__ import annotations

import hashlib
import re

_SERVER = re.compile(r"[A-Za-z0-9_-]{1,32}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64
_KEPT = 51
_DIGEST = 12


def is_server_name(name: str) -> bool:
    """Whether a server may have that name."""
    return _SERVER.fullmatch(name) is not None and "__" not in name


def public_name(server: str, raw: str) -> str:
    """The name of a server's tool.

    Where a character had to be replaced, or the name would be too long, its end is a digest of
    both names, so that no two tools share one.
    """
    name = f"mcp__{server}__{raw}"
    safe = _UNSAFE.sub("_", name)
    if safe == name and len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(f"{server}\0{raw}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe[:_KEPT]}_{digest[:_DIGEST]}"
