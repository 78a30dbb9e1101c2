"""The ids of the domain, as types of their own, and how some derive from others.

Ids that must come out the same on every replica and every try are derived, never drawn.
"""

from __future__ import annotations

import base64
import hashlib
from typing import NewType

SourceName = NewType("SourceName", str)
"""A Source instance, such as ``github`` or ``github-acme``."""
TriggerId = NewType("TriggerId", str)
"""``<source>:<the provider's object and revision>``: never the delivery's id (SRC-7)."""
ThreadKey = NewType("ThreadKey", str)
"""``<source>:<the Source's key of the Thread>``."""
TicketId = NewType("TicketId", str)
AssignmentId = NewType("AssignmentId", str)
EvalId = NewType("EvalId", str)
DecisionId = NewType("DecisionId", str)
MandateId = NewType("MandateId", str)
WriteId = NewType("WriteId", str)
RuleId = NewType("RuleId", str)
PolicyVersion = NewType("PolicyVersion", str)
HostName = NewType("HostName", str)
"""An Executor instance, as it names itself."""


def ticket_id_for(trigger: TriggerId) -> TicketId:
    """Return the id of the Ticket that ``trigger`` may open.

    Derived from the Trigger alone, so a Trigger opens at most one Ticket, for ever (TRG-3).
    Lower-case base32 without look-alikes; 80 bits, so that two Triggers never meet.
    """
    digest = hashlib.sha256(trigger.encode()).digest()
    return TicketId("t-" + base64.b32encode(digest[:10]).decode().lower())


def eval_id_for(thread: ThreadKey, number: int) -> EvalId:
    """Return the id of the ``number``-th Eval of ``thread``, counted from 1."""
    return EvalId(f"{thread}/eval/{number}")


def decision_id_for(eval_id: EvalId) -> DecisionId:
    """Return the id of the Decision that ``eval_id`` may lead to: an Eval has one at most."""
    return DecisionId(f"{eval_id}/decision")


def assignment_id_for(ticket: TicketId, number: int) -> AssignmentId:
    """Return the id of the ``number``-th Assignment of ``ticket``, counted from 1."""
    return AssignmentId(f"{ticket}/assignment/{number}")


def write_id_for(ticket: TicketId, number: int) -> WriteId:
    """Return the id of the ``number``-th Channel write of ``ticket``, counted from 1.

    It becomes the marker that a provider's copy carries, so it keeps to a plain alphabet.
    """
    return WriteId(f"{ticket}-w{number}")
