"""Carry out what other parts ask of a Thread."""

from __future__ import annotations

from remit.bus.errors import Contended
from remit.bus.message import Delivery
from remit.bus.ports import Done, Later, Never, Outcome
from remit.domain.messages import ToThread
from remit.domain.thread import EndEval, ThreadRefusal
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.wire import PayloadUnreadable, read
from remit.telemetry import names, tracing
from remit.ticket.threads import Threads


class ThreadCommands:
    """Handles the commands to Threads.

    Args:
        threads: The Threads.
        policy: The Policy in force.
        tries: How often an Eval may come to nothing before it ends unavailable (EVL-5).
    """

    def __init__(self, threads: Threads, policy: PolicyWatch, *, tries: int) -> None:
        self._threads = threads
        self._policy = policy
        self._tries = tries

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Carry out one command."""
        try:
            asked = read(delivery, ToThread)
        except PayloadUnreadable as error:
            return Never(str(error))
        tracing.annotate({names.THREAD: asked.thread})
        command = asked.ask
        if isinstance(command, EndEval):
            # A timer was set when the Eval began; what counts is what holds when it fires.
            now = {"tries": self._tries, "current": self._policy.policy.version}
            command = command.model_copy(update=now)
        try:
            await self._threads.ask(asked.thread, [command], commit_id=delivery.message.id)
        except Contended as error:
            return Later(str(error))
        except ThreadRefusal as error:
            return Never(str(error))
        return Done()
