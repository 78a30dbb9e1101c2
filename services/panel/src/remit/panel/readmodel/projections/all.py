"""Every stream that the read model follows."""

from __future__ import annotations

from remit.bus import subjects
from remit.panel.readmodel.projections.console import project_console
from remit.panel.readmodel.projections.dead_letter import project_dead_letter
from remit.panel.readmodel.projections.disposition import project_disposition
from remit.panel.readmodel.projections.drop import project_drop
from remit.panel.readmodel.projections.policy import project_policy
from remit.panel.readmodel.projections.projection import Projection
from remit.panel.readmodel.projections.thread import project_thread
from remit.panel.readmodel.projections.ticket import project_ticket
from remit.panel.readmodel.projections.trigger import project_trigger


def projections() -> tuple[Projection, ...]:
    """Return the projection of each stream."""
    return (
        Projection("TRIGGER", subjects.TRIGGERS, project_trigger),
        Projection("DISPOSITION", subjects.DISPOSITIONS, project_disposition),
        Projection("THREAD", subjects.THREADS, project_thread),
        Projection("TICKET", subjects.TICKETS, project_ticket),
        Projection("POLICY", subjects.POLICIES, project_policy),
        Projection("DROP", subjects.DROPS, project_drop),
        Projection("DEADLETTER", subjects.DEADLETTERS, project_dead_letter),
        Projection("CONSOLE", subjects.CONSOLES, project_console),
    )
