"""``pull_request_review``: submitted, dismissed."""

from __future__ import annotations

from remit.connectors.contract import Drop, DropReason, Normalised
from remit.connectors.github.events.family import Family
from remit.connectors.github.events.payloads import ReviewEvent
from remit.connectors.github.events.pulls import pull_request_subject
from remit.connectors.github.events.reading import Event, Reading, Subject

NAME = "pull_request_review"
_COMMENTED = "commented"


def _submitted(reading: Reading, event: ReviewEvent) -> Normalised:
    """A review that only wraps comments says nothing: each of these comes by itself (B8)."""
    review = event.review
    key = f"review/{review.id}/submitted"
    if review.state.casefold() == _COMMENTED and not review.body.strip():
        return Drop(DropReason.NO_CONTENT, key)
    submitted = Event(
        key=key,
        kind=f"{NAME}.submitted",
        at=review.submitted_at or event.pull_request.updated_at,
        url=review.html_url,
    )
    return reading.message(_subject(reading, event), submitted, review)


def _dismissed(reading: Reading, event: ReviewEvent) -> Normalised:
    dismissed = Event(
        key=f"review/{event.review.id}/dismissed",
        kind=f"{NAME}.dismissed",
        at=event.pull_request.updated_at,
        url=event.review.html_url,
    )
    return reading.change(_subject(reading, event), dismissed, event.sender)


def _subject(reading: Reading, event: ReviewEvent) -> Subject:
    review = event.review
    return pull_request_subject(
        reading,
        event.repository,
        event.pull_request,
        {"review_state": review.state.casefold(), "commit": review.commit_id},
    )


FAMILY = Family(ReviewEvent, {"submitted": _submitted, "dismissed": _dismissed})
