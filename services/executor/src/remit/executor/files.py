"""Small files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path`` in one step, and on the disk before it counts.

    Two writers never mix: each writes a file of its own first.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
        try:
            draft.write(content)
            draft.flush()
            os.fsync(draft.fileno())
        except BaseException:
            Path(draft.name).unlink()
            raise
    Path(draft.name).replace(path)
