"""The Policy: the version in force and the ones before."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from remit.domain.messages import PolicyInForce
from remit.domain.model import Model
from remit.domain.policy import EMPTY_POLICY, AcceptMode, Policy
from remit.panel.readmodel.times import moment_of


class PolicyVersionLine(Model):
    """A version of the Policy in a list."""

    version: str
    accept: AcceptMode
    applied_at: datetime
    applied_by: str


class PolicyAnswer(Model):
    """The Policy in force.

    Attributes:
        version: Its version; where none was ever applied, that of the empty one, under which
            nobody may start anything.
        policy: The Policy.
        text: The document as it was written.
        applied_at: When it was applied; None where none was.
        applied_by: Who applied it.
        versions: What was applied, the last first, this one among them.
    """

    version: str
    policy: Policy
    text: str = ""
    applied_at: datetime | None = None
    applied_by: str | None = None
    versions: tuple[PolicyVersionLine, ...] = ()


def policy(db: sqlite3.Connection, *, limit: int = 50) -> PolicyAnswer:
    """Return the Policy in force and the last ``limit`` versions."""
    rows = db.execute("SELECT * FROM policies ORDER BY position DESC LIMIT ?", (limit,)).fetchall()
    if not rows:
        return PolicyAnswer(version=EMPTY_POLICY.version, policy=EMPTY_POLICY)
    applied = [PolicyInForce.model_validate_json(row["document"]) for row in rows]
    return PolicyAnswer(
        version=rows[0]["version"],
        policy=applied[0].policy,
        text=applied[0].text,
        applied_at=applied[0].applied_at,
        applied_by=applied[0].applied_by,
        versions=tuple(
            PolicyVersionLine(
                version=row["version"],
                accept=one.policy.accept,
                applied_at=moment_of(row["at"]),
                applied_by=one.applied_by,
            )
            for row, one in zip(rows, applied, strict=True)
        ),
    )
