"""GitHub's error answers, as exceptions that carry their status and body."""

from collections.abc import Mapping
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


class ApiError(Exception):
    """An answer that is not a success.

    Attributes:
        status: HTTP status.
        message: The ``message`` of the body.
        errors: The ``errors`` list of a 422, where there is one.
        headers: Extra headers of the answer.
    """

    status = 500

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        errors: list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = self.status if status is None else status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """Return the JSON body."""
        body: dict[str, Any] = {"message": self.message}
        if self.errors is not None:
            body["errors"] = self.errors
        return body | {"documentation_url": DOCUMENTATION, "status": str(self.status)}


class NotFoundError(ApiError):
    """404: it is not there, or the caller may not know that it is."""

    status = 404

    def __init__(self, message: str = "Not Found") -> None:
        super().__init__(message)


class ForbiddenError(ApiError):
    """403: the caller is known and may not do this."""

    status = 403


class AuthenticationError(ApiError):
    """401: no token, or one that is not valid."""

    status = 401


class InvalidError(ApiError):
    """422 with GitHub's ``errors`` list."""

    status = 422

    def __init__(self, *errors: dict[str, str] | str) -> None:
        super().__init__("Validation Failed", errors=list(errors))


class SimpleInvalidError(ApiError):
    """422 as the reviews' addresses give it: ``errors`` are plain sentences."""

    status = 422

    def __init__(self, *reasons: str) -> None:
        super().__init__("Unprocessable Entity", errors=list(reasons))

    @classmethod
    def of(cls, error: InvalidError) -> "SimpleInvalidError":
        """Return the plain form of another refusal."""
        return cls(*(_sentence(it) for it in error.errors or ()))


def _sentence(entry: dict[str, str] | str) -> str:
    if isinstance(entry, str):
        return entry
    default = f"{entry.get('field', 'value')} is {entry['code'].replace('_', ' ')}"
    return entry.get("message", default)


class NotEmulatedError(ApiError):
    """501: GitHub does this and the emulator does not; better than a wrong answer."""

    status = 501

    def __init__(self, what: str) -> None:
        super().__init__(f"The emulator does not do this: {what}")


def missing(resource: str, field: str) -> dict[str, str]:
    """Return the ``errors`` entry for a field that must be given."""
    return {"resource": resource, "code": "missing_field", "field": field}


def invalid(resource: str, field: str) -> dict[str, str]:
    """Return the ``errors`` entry for a field whose value is not acceptable."""
    return {"resource": resource, "code": "invalid", "field": field}


def custom(resource: str, message: str, field: str | None = None) -> dict[str, str]:
    """Return the ``errors`` entry for a rule that has a message of its own."""
    entry = {"resource": resource, "code": "custom", "message": message}
    return entry if field is None else entry | {"field": field}
