"""Health: ready means that work can be taken, alive means that it makes progress.

``/readyz`` answers 503 with the reasons while something is missing. ``/healthz`` answers 503 only
when a part of the service is stuck; that a neighbour is away never counts (field report D5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import APIRouter, Response


@dataclass
class Health:
    """What a service says of itself.

    Attributes:
        starting: Why it is not ready yet; empty once it started.
        stopping: A stop was asked for.
        needs: Named checks of what it needs to take work.
        beats: Named checks that its parts make progress.
    """

    starting: str = "starting"
    stopping: bool = False
    needs: dict[str, Callable[[], bool]] = field(default_factory=dict)
    beats: dict[str, Callable[[], bool]] = field(default_factory=dict)

    def not_ready(self) -> list[str]:
        """Return why no work should come; empty when it may."""
        reasons = [name for name, holds in self.needs.items() if not holds()]
        if self.starting:
            reasons.insert(0, self.starting)
        if self.stopping:
            reasons.insert(0, "stopping")
        return reasons

    def stuck(self) -> list[str]:
        """Return which parts make no progress."""
        return [name for name, beats in self.beats.items() if not beats()]

    def router(self) -> APIRouter:
        """Return the two endpoints."""
        router = APIRouter()

        @router.get("/readyz", include_in_schema=False)
        async def readyz(response: Response) -> dict[str, object]:
            reasons = self.not_ready()
            response.status_code = 503 if reasons else 200
            return {"ready": not reasons, "waiting_for": reasons}

        @router.get("/healthz", include_in_schema=False)
        async def healthz(response: Response) -> dict[str, object]:
            stuck = self.stuck()
            response.status_code = 503 if stuck else 200
            return {"alive": not stuck, "stuck": stuck}

        return router
