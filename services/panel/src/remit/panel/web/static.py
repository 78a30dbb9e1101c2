"""Scripts and styles: a closed list of files, each with its digest in its address."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from fastapi.responses import Response

_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_HEADERS = {
    # The address changes with the content.
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    digest: str


class Static:
    """The files that pages load, all from the panel itself."""

    def __init__(self) -> None:
        folder = files("remit.panel.web") / "static"
        self._files = {
            entry.name: _read(entry)
            for where in (folder, folder / "vendor")
            for entry in where.iterdir()
            if entry.name.rpartition(".")[2] in _TYPES
        }

    def address(self, name: str) -> str:
        """Return the address of a file.

        Raises:
            KeyError: There is no such file.
        """
        return f"/static/{name}?v={self._files[name].digest}"

    def router(self) -> APIRouter:
        """Return the endpoint; the files are no secret, and the login page needs them."""
        router = APIRouter()

        @router.get("/static/{name}", include_in_schema=False)
        async def file(name: str) -> Response:
            found = self._files.get(name)
            if found is None:
                return Response("There is no such file.", 404, media_type="text/plain")
            return Response(found.content, media_type=found.media_type, headers=_HEADERS)

        return router


def _read(entry: Traversable) -> _File:
    content = entry.read_bytes()
    return _File(
        content=content,
        media_type=_TYPES[entry.name.rpartition(".")[2]],
        digest=hashlib.sha256(content).hexdigest()[:16],
    )
