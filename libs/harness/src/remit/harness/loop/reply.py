"""Putting a model's answer together as it arrives, and keeping the stream it arrived in (LOG-4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from remit.harness.clock import Clock
from remit.harness.log.json_text import JsonObject
from remit.harness.log.messages import Block, ReasoningBlock, TextBlock, ToolCallBlock
from remit.harness.log.payloads import LlmFailure, Usage
from remit.harness.log.stream import TimedChunk, compact
from remit.harness.models.port import (
    Finish,
    FinishKind,
    ModelError,
    ModelEvent,
    ReasoningDelta,
    ReasoningSignature,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)


@dataclass(slots=True)
class _Building:
    """A block that is still growing."""

    kind: str
    pieces: list[str] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    signature: str | None = None
    ended: bool = False

    def block(self) -> Block:
        text = "".join(self.pieces)
        if self.kind == "text":
            return TextBlock(text=text)
        if self.kind == "reasoning":
            return ReasoningBlock(text=text)
        return ToolCallBlock(id=self.call_id, name=self.name, arguments=text)


class Reply:
    """One answer, fed event by event.

    Attributes:
        finish: How it ended; None while it has not.
        usage: The tokens it took; None where the model did not say.
    """

    def __init__(self, clock: Clock, *, provider: str, model: str) -> None:
        self.finish: FinishKind | None = None
        self.usage: Usage | None = None
        self._clock = clock
        self._provider = provider
        self._model = model
        self._blocks: list[_Building] = []
        self._places: dict[int, int] = {}
        self._chunks: list[TimedChunk] = []

    def feed(self, event: ModelEvent) -> None:
        """Take in the next event.

        Raises:
            ModelError: The model says something that makes no sense at this point.
        """
        match event:
            case TextDelta(index, text):
                place = self._grow(index, "text", text)
                self._note({"type": "text-delta", "index": place, "text": text})
            case ReasoningDelta(index, text):
                place = self._grow(index, "reasoning", text)
                if text:
                    self._note({"type": "reasoning-delta", "index": place, "text": text})
            case ReasoningSignature(index, signature):
                place = self._grow(index, "reasoning", "")
                self._blocks[place].signature = signature
            case ToolCallDelta():
                self._grow_call(event)
            case UsageReport():
                self.usage = _usage(event)
            case Finish(kind):
                self._end_blocks()
                if self.usage is not None:
                    self._note({"type": "usage", "usage": self.usage.to_json()})
                self._note(self._finish_chunk(kind))
                self.finish = kind

    def content(self) -> tuple[Block, ...]:
        """The blocks so far, in the order they began."""
        return tuple(building.block() for building in self._blocks)

    def stream(self) -> tuple[JsonObject, ...]:
        """The stream so far, compact."""
        return tuple(compact(self._chunks))

    def replay_state(self) -> dict[str, Any] | None:
        """What the model's interface needs to read this answer again; None where it needs nothing.

        Only reasoning that the model signed needs anything.
        """
        if all(building.signature is None for building in self._blocks):
            return None
        return {
            "response": {"kind": self._provider, "version": 1, "model": self._model},
            "blocks": [
                {"type": building.kind}
                | ({} if building.signature is None else {"signature": building.signature})
                for building in self._blocks
            ],
        }

    def cut_short(self) -> None:
        """The answer was cancelled: keep what was said before its first tool call."""
        kept = next(
            (place for place, block in enumerate(self._blocks) if block.kind == "tool-call"),
            len(self._blocks),
        )
        del self._blocks[kept:]
        self._chunks = [timed for timed in self._chunks if timed.chunk.get("index", 0) < kept]
        self._end_blocks()

    def fail(self, failure: LlmFailure) -> None:
        """The answer broke off: the stream ends with the reason."""
        reason = {"kind": "error", "failure": failure.to_json()}
        self._note({"type": "finish", "reason": reason})

    def _grow(self, index: int, kind: str, text: str) -> int:
        place = self._places.get(index)
        if place is None or self._blocks[place].ended or self._blocks[place].kind != kind:
            place = self._open(index, _Building(kind))
        self._blocks[place].pieces.append(text)
        return place

    def _grow_call(self, delta: ToolCallDelta) -> None:
        place = self._places.get(delta.index)
        if place is None or self._blocks[place].kind != "tool-call":
            if not delta.name or not delta.id:
                raise self._nonsense("a tool call without a name")
            if any(block.call_id == delta.id for block in self._blocks):
                raise self._nonsense(f"two tool calls with the id {delta.id}")
            place = self._open(
                delta.index, _Building("tool-call", call_id=delta.id, name=delta.name)
            )
        elif self._blocks[place].ended:
            raise self._nonsense(f"more of tool call {delta.id} after it ended")
        self._blocks[place].pieces.append(delta.arguments)
        chunk: JsonObject = {"type": "tool-call-delta", "index": place, "id": delta.id}
        if delta.name is not None:
            chunk["name"] = delta.name
        self._note({**chunk, "argumentsDelta": delta.arguments})

    def _open(self, index: int, building: _Building) -> int:
        self._end_blocks()
        place = len(self._blocks)
        self._blocks.append(building)
        self._places[index] = place
        self._note({"type": "block-start", "index": place, "blockType": building.kind})
        return place

    def _end_blocks(self) -> None:
        for place, building in enumerate(self._blocks):
            if not building.ended:
                building.ended = True
                block = building.block().to_json()
                self._note({"type": "block-end", "index": place, "block": block})

    def _finish_chunk(self, kind: FinishKind) -> JsonObject:
        chunk: JsonObject = {"type": "finish"}
        if kind == "refusal":
            failure = LlmFailure(message="the model declined to answer", code="REFUSAL")
            chunk["reason"] = {"kind": "error", "failure": failure.to_json()}
        else:
            chunk["reason"] = {"kind": kind}
        state = self.replay_state()
        if state is not None:
            chunk["replayState"] = state
        return chunk

    def _note(self, chunk: JsonObject) -> None:
        self._chunks.append(TimedChunk(self._clock.now_ms(), chunk))

    def _nonsense(self, what: str) -> ModelError:
        return ModelError(f"the model sent {what}", code="BAD_RESPONSE", retryable=True)


def _usage(report: UsageReport) -> Usage:
    return Usage(
        input_tokens=report.input_tokens,
        output_tokens=report.output_tokens,
        cache_read_tokens=report.cache_read_tokens,
        cache_write_tokens=report.cache_write_tokens,
        total_tokens=report.total_tokens,
    )
