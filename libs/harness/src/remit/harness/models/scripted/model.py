"""The `scripted` model: plays a file, for tests, demonstrations and trying out a set-up."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

from remit.harness.clock import IdSource, Sleep
from remit.harness.models.port import (
    Finish,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)
from remit.harness.models.scripted.play import Filling, choose_step
from remit.harness.models.scripted.script import Script, load_script

PROVIDER = "scripted"
_CHARACTERS_PER_TOKEN = 4


class ScriptedModel:
    """A model that says what its script says."""

    def __init__(self, script: Script, *, name: str, new_id: IdSource, sleep: Sleep) -> None:
        """Play one script.

        Args:
            script: What to say.
            name: What the model is called.
            new_id: Names the tool calls.
            sleep: Waits out a step's delay.
        """
        self._script = script
        self._name = name
        self._new_id = new_id
        self._sleep = sleep

    @classmethod
    def from_file(cls, path: Path, *, new_id: IdSource, sleep: Sleep) -> ScriptedModel:
        """Play a file.

        Raises:
            ScriptError: It is not a script.
        """
        return cls(load_script(path), name=path.stem, new_id=new_id, sleep=sleep)

    @property
    def provider(self) -> str:
        """Which interface it is behind."""
        return PROVIDER

    @property
    def name(self) -> str:
        """The script's name."""
        return self._name

    @property
    def context_window(self) -> int | None:
        """A script has no limit."""
        return None

    @property
    def max_tokens(self) -> int | None:
        """A script has no limit."""
        return None

    async def aclose(self) -> None:
        """There is nothing to free."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Give the step that the conversation is at; see `Model.stream`."""
        step = choose_step(self._script, request.messages)
        filling = Filling(self._script, request)
        if step.delay:
            await self._sleep(step.delay)
        if step.fail is not None:
            raise ModelError(filling.fill(step.fail), code="SCRIPT")
        index = written = 0
        for text, delta in ((step.reasoning, ReasoningDelta), (step.text, TextDelta)):
            if text is not None:
                filled: str = filling.fill(text)
                yield delta(index, filled)
                index, written = index + 1, written + len(filled)
        for call in step.calls:
            arguments = json.dumps(filling.fill(call.arguments), ensure_ascii=False)
            call_id = f"call_{self._new_id()}"
            yield ToolCallDelta(index, call_id, call.name, "")
            yield ToolCallDelta(index, call_id, None, arguments)
            index, written = index + 1, written + len(arguments)
        yield UsageReport(input_tokens=0, output_tokens=written // _CHARACTERS_PER_TOKEN)
        yield Finish("tool-calls" if step.calls else "stop")
