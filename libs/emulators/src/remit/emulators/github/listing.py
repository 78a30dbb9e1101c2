"""Lists: pages with ``Link`` headers, ``since``, and the order asked for."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar

from fastapi import Depends, Request, Response

from .errors import ApiError

Direction = Literal["asc", "desc"]
Row = TypeVar("Row")
_PER_PAGE_LIMIT = 100


class Paging:
    """The page that a request asks for.

    Args:
        request: Its URL, with another page number, is what the ``Link`` header names.
        response: Gets the header.
        page: Page number from 1.
        per_page: Rows of a page, 100 at most.
    """

    def __init__(self, request: Request, response: Response, *, page: int, per_page: int) -> None:
        self._request = request
        self._response = response
        self._page = max(page, 1)
        self._size = min(max(per_page, 1), _PER_PAGE_LIMIT)

    def cut(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of this page, and name the other pages in the ``Link`` header."""
        last = max(1, -(-len(rows) // self._size))
        targets: dict[str, int] = {}
        if self._page > 1:
            targets |= {"prev": min(self._page - 1, last), "first": 1}
        if self._page < last:
            targets |= {"next": self._page + 1, "last": last}
        if targets:
            self._response.headers["Link"] = ", ".join(
                f'<{self._request.url.include_query_params(page=page)}>; rel="{name}"'
                for name, page in targets.items()
            )
        start = (self._page - 1) * self._size
        return rows[start : start + self._size]


async def get_paging(
    request: Request, response: Response, page: int = 1, per_page: int = 30
) -> Paging:
    """Return the page that a request asks for: the first 30 rows unless it says otherwise."""
    return Paging(request, response, page=page, per_page=per_page)


PagingOf = Annotated[Paging, Depends(get_paging)]


def parse_since(since: str | None) -> datetime | None:
    """Return a ``since`` parameter as a time; without a zone it is UTC.

    Raises:
        ApiError: It is no ISO 8601 time (422).
    """
    if since is None:
        return None
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as error:
        raise ApiError(f"The since parameter {since!r} is not a time.", status=422) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
