"""Which events are the conversation now: the surface of a log.

Most events join at the end. A replacement takes the place of a range of nodes and must name every
node it hides among its sources.
"""

from __future__ import annotations

from remit.harness.log.errors import RowError
from remit.harness.log.event import Event, Replace
from remit.harness.log.payloads import ToolResult


class Surface:
    """The conversation's nodes, kept up to date as events are added."""

    def __init__(self) -> None:
        self._nodes: list[Event] = []

    @property
    def nodes(self) -> tuple[Event, ...]:
        """The events of the conversation, in its order."""
        return tuple(self._nodes)

    def add(self, event: Event) -> None:
        """Let one event take its place; events that are no part of it change nothing.

        Raises:
            RowError: The event cannot stand where it says; the surface is as before.
        """
        if event.placement is None:
            return
        if isinstance(event.placement, Replace):
            self._replace(event, event.placement)
            return
        if event.type == "system/message" and self._nodes and not self._has_system_head():
            raise RowError("a system/message may only lead the conversation")
        self._nodes.append(event)

    def _replace(self, event: Event, placement: Replace) -> None:
        first = self._index(placement.start_seq)
        last = self._index(placement.end_seq)
        if first > last:
            raise RowError("surfaceOp replaces a range that ends before it starts")
        hidden = self._nodes[first : last + 1]
        missing = [node.seq for node in hidden if node.seq not in event.sources]
        if missing:
            raise RowError(f"it replaces event {missing[0]} and does not name it as a source")
        if first == 0 and self._has_system_head() and not _replaces_system(event, hidden):
            raise RowError("only a system/message may replace the leading system/message")
        if event.type == "tool/result":
            _check_result(event, hidden)
        self._nodes[first : last + 1] = [event]

    def _index(self, seq: int) -> int:
        for index, node in enumerate(self._nodes):
            if node.seq == seq:
                return index
        raise RowError(f"surfaceOp names event {seq}, which is not part of the conversation now")

    def _has_system_head(self) -> bool:
        return bool(self._nodes) and self._nodes[0].type == "system/message"


def _replaces_system(event: Event, hidden: list[Event]) -> bool:
    return event.type == "system/message" and len(hidden) == 1


def _check_result(event: Event, hidden: list[Event]) -> None:
    if len(hidden) != 1 or hidden[0].type != "tool/result":
        raise RowError("a tool/result may only replace one tool/result")
    old, new = hidden[0].payload, event.payload
    if not isinstance(old, ToolResult) or not isinstance(new, ToolResult):
        raise RowError("a tool/result may only replace one tool/result")
    if new.message.model_copy(update={"content": old.message.content}) != old.message:
        raise RowError("a replaced tool/result may differ in its content only")
