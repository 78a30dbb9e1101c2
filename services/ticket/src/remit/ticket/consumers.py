"""The durable consumers of the ticket service: its places in the streams."""

from __future__ import annotations

from datetime import timedelta

from remit.bus import subjects
from remit.bus.ports import Consumer

ROUTE_TRIGGERS = Consumer(stream="TRIGGER", name="ticket-route-triggers", subject=subjects.TRIGGERS)
TAKE_EVAL_RESULTS = Consumer(
    stream="EVAL", name="ticket-take-eval-results", subject=subjects.EVAL_RESULTS
)
THREAD_COMMANDS = Consumer(
    stream="COMMAND", name="ticket-thread-commands", subject=subjects.THREAD_COMMANDS
)
# A command may come before the one that opens its Ticket, and a report before the one before it.
_SOON = tuple(timedelta(milliseconds=ms) for ms in (20, 50, 100, 250, 1000, 5000, 30_000))
TICKET_COMMANDS = Consumer(
    stream="COMMAND",
    name="ticket-ticket-commands",
    subject=subjects.TICKET_COMMANDS,
    attempts=20,
    backoff=_SOON,
)
TAKE_REPORTS = Consumer(
    stream="REPORT",
    name="ticket-take-reports",
    subject=subjects.REPORTS,
    attempts=20,
    backoff=_SOON,
)
