"""What issues and pull requests have in common: they are opened, edited, closed, reopened."""

from __future__ import annotations

from datetime import datetime

from remit.connectors.contract import Normalised
from remit.connectors.github.events.payloads import Account, Changes
from remit.connectors.github.events.reading import Event, Reading, Subject, revision


def opened(reading: Reading, subject: Subject, name: str) -> Normalised:
    """Return the Trigger of a new issue or pull request: its title and body are a message (C23)."""
    happened = _event(subject, "opened", f"{name}.opened", subject.numbered.created_at)
    return reading.message(subject, happened, subject.numbered, title=subject.numbered.title)


def edited(
    reading: Reading,
    subject: Subject,
    name: str,
    editor: Account | None,
    changes: Changes | None,
) -> Normalised:
    """Return the Trigger of an edit; only what it changed can address the agent."""
    numbered = subject.numbered
    changed = []
    if changes is not None and changes.title is not None:
        changed.append(numbered.title)
    if changes is not None and changes.body is not None:
        changed.append(numbered.body)
    key = f"edit/{revision(numbered.updated_at)}"
    happened = _event(subject, key, f"{name}.edited", numbered.updated_at)
    return reading.edit(subject, happened, numbered, editor, changed=changed)


def closed(reading: Reading, subject: Subject, name: str, sender: Account | None) -> Normalised:
    """Return the Trigger of a closing."""
    at = subject.numbered.closed_at or subject.numbered.updated_at
    happened = _event(subject, f"closed/{revision(at)}", f"{name}.closed", at)
    return reading.change(subject, happened, sender)


def changed(
    reading: Reading, subject: Subject, name: str, action: str, sender: Account | None
) -> Normalised:
    """Return the Trigger of a change that GitHub gives no time of its own but the last one."""
    at = subject.numbered.updated_at
    happened = _event(subject, f"{action}/{revision(at)}", f"{name}.{action}", at)
    return reading.change(subject, happened, sender)


def _event(subject: Subject, key: str, kind: str, at: datetime) -> Event:
    place = subject.place
    return Event(
        key=f"{place.repository_id}/{place.number}/{key}",
        kind=kind,
        at=at,
        url=subject.numbered.html_url,
    )
