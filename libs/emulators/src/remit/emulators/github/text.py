"""GitHub's limits on what people write."""

from .errors import InvalidError, custom, missing

BODY_LIMIT = 65_536
TITLE_LIMIT = 256


def check_body(resource: str, body: str | None) -> None:
    """Refuse a body over GitHub's limit, counted in characters.

    Raises:
        InvalidError: The body is too long.
    """
    if body is not None and len(body) > BODY_LIMIT:
        raise InvalidError(
            custom(resource, f"body is too long (maximum is {BODY_LIMIT} characters)", "body")
        )


def check_required_body(resource: str, body: str | None) -> str:
    """Return a body that must say something.

    Raises:
        InvalidError: The body is missing, blank, or too long.
    """
    if body is None or not body.strip():
        raise InvalidError(missing(resource, "body"))
    check_body(resource, body)
    return body


def check_title(resource: str, title: str | None) -> str:
    """Return a title that must be there and not too long.

    Raises:
        InvalidError: The title is missing, blank, or too long.
    """
    if title is None or not title.strip():
        raise InvalidError(missing(resource, "title"))
    if len(title) > TITLE_LIMIT:
        raise InvalidError(
            custom(resource, f"title is too long (maximum is {TITLE_LIMIT} characters)", "title")
        )
    return title
