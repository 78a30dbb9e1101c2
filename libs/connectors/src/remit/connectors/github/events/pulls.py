"""What all events of a pull request have in common: which it is, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from remit.connectors.github.events.payloads import PullRequest, Repository
from remit.connectors.github.events.reading import Reading, Subject
from remit.connectors.github.place import Place


def pull_request_subject(
    reading: Reading,
    repository: Repository,
    pull: PullRequest,
    facts: Mapping[str, JsonValue] | None = None,
) -> Subject:
    """Return the subject that ``pull`` is, with ``facts`` of the event's family."""
    place = Place(
        source=reading.source,
        repository_id=repository.id,
        repository=repository.full_name,
        number=pull.number,
        is_pull=True,
    )
    return Subject(
        place=place,
        repository=repository,
        numbered=pull,
        facts={
            "head_ref": pull.head.ref,
            "head_sha": pull.head.sha,
            "base_ref": pull.base.ref,
            **(facts or {}),
        },
        address=place.conversation,
    )
