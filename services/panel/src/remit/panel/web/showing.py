"""How values look on a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlsplit

_MARKED_SAFE = ":@-._~"


def path_to(*parts: str) -> str:
    """Return the path of a page; every part is one segment, whatever it holds."""
    return "/" + "/".join(quote(part, safe=_MARKED_SAFE) for part in parts)


def moment(at: datetime) -> str:
    """Return a time as people read it, in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def instant(at: datetime) -> str:
    """Return a time as people read it, in UTC, to the millisecond."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def took(milliseconds: float) -> str:
    """Return a duration with the unit that suits it."""
    if milliseconds == 0:
        return "0 ms"
    if milliseconds < 1:
        return f"{milliseconds:.2f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def between(start: datetime, end: datetime) -> str:
    """Return how long it was from ``start`` to ``end``."""
    return took((end - start) / timedelta(milliseconds=1))


def web_address(url: str | None) -> str | None:
    """Return ``url`` if a page may link to it: only the web, never a script."""
    if url is None:
        return None
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        return None
    return url if scheme in ("http", "https") else None


def local_path(given: str) -> str:
    """Return a path of this panel to go on to; anything else becomes the first page."""
    if given.startswith("/") and not given.startswith(("//", "/\\")):
        return given
    return "/"


def bar(offset: float, duration: float, whole: float) -> tuple[str, str]:
    """Return where a bar of a waterfall begins and how wide it is, in thousandths.

    A bar is never too thin to be seen.
    """
    if whole <= 0:
        return "0", "1000"
    begin = min(1000 * offset / whole, 996)
    width = max(1000 * duration / whole, 4)
    return f"{begin:.1f}", f"{min(width, 1000 - begin):.1f}"
