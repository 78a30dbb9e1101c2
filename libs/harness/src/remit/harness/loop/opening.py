"""What a turn's first step adds to the conversation before the model is asked."""

from __future__ import annotations

from typing import Any

from remit.harness.log.messages import (
    Section,
    SnapshotSource,
    Source,
    SystemMessage,
    TextBlock,
    UserMessage,
    text_of,
)
from remit.harness.log.payloads import (
    RequestContext,
    RequestHeader,
    SessionEndSeed,
    SessionTitle,
    SystemMessageRecorded,
    TitleSource,
    UserMessageRecorded,
)
from remit.harness.log.replay import conversation
from remit.harness.loop.session import Session
from remit.harness.models.port import ModelRequest

RUNTIME_CONTEXT = "runtime-context"
"""The kind of message that states the present facts of a session."""

_TITLE_WORDS = 5
_TITLE_LENGTH = 40


async def open_turn(session: Session, prompt: UserMessage, turn: int) -> None:
    """Add the system prompt where it is missing, the prompt, and what has changed around it."""
    if not session.record.surface.nodes:
        await session.note(
            SystemMessageRecorded(turn=turn, step=1, message=_system_message(session))
        )
    prompt_event = await session.note(UserMessageRecorded(**dict(prompt)))
    context = _runtime_context(session)
    if context.source.to_json() != _last_context(session):
        await session.note(context)
    await _note_request(session)
    if session.record.latest(SessionTitle) is None:
        await session.note(
            SessionTitle(
                title=_title(text_of(prompt.content)),
                message_seqs=(prompt_event.seq,),
                source=TitleSource(kind="fallback"),
            )
        )


async def refresh_request(session: Session) -> None:
    """Record what requests carry besides the conversation, where it is not what it was."""
    await _note_request(session)


def next_request(session: Session) -> ModelRequest:
    """What the model is asked now: the log says it all, but for the tools (LOG-5)."""
    said = conversation(session.record.surface)
    return ModelRequest(
        system=None if said.system is None else text_of(said.system.content),
        messages=said.messages,
        tools=session.tools().schemas(),
        cwd=str(session.context.workspace.root),
    )


def _system_message(session: Session) -> SystemMessage:
    return SystemMessage(
        content=(TextBlock(text=session.services.system_prompt),),
        source=Source(kind="system-prompt"),
        id=session.services.new_id(),
    )


def _runtime_context(session: Session) -> UserMessageRecorded:
    root = session.context.workspace.root
    rules = session.rules
    sections = (
        Section(name="working-directory:current", text=f"The working directory is {root}."),
        Section(name="approval:policy", text=f"Permissions: {rules.description}"),
    )
    text = "\n\n".join(
        ("These facts hold from here on; earlier ones no longer do.", *(s.text for s in sections))
    )
    return UserMessageRecorded(
        content=(TextBlock(text=text),),
        source=SnapshotSource(kind=RUNTIME_CONTEXT, sections=sections),
        id=session.services.new_id(),
    )


def _last_context(session: Session) -> dict[str, Any] | None:
    for node in reversed(session.record.surface.nodes):
        payload = node.payload
        if isinstance(payload, UserMessageRecorded) and payload.source.kind == RUNTIME_CONTEXT:
            return payload.source.to_json()
    return None


async def _note_request(session: Session) -> None:
    header = _header(session)
    recorded = session.record.latest_event(RequestHeader)
    resumed = session.record.latest_event(SessionEndSeed)
    latest = session.record.latest(RequestHeader)
    if recorded is None or latest is None:
        await session.note(RequestHeader(header=header, reason="initial"))
    elif resumed is not None and resumed.seq > recorded.seq:
        await session.note(RequestHeader(header=header, reason="resume"))
    elif latest.header != header:
        await session.note(RequestHeader(header=header, reason="change"))
    model = session.services.model
    context = RequestContext(
        provider=model.provider, model=model.name, context_window=model.context_window
    )
    if session.record.latest(RequestContext) != context:
        await session.note(context)


def _header(session: Session) -> dict[str, Any]:
    model = session.services.model
    config: dict[str, Any] = {"provider": model.provider, "model": model.name}
    if model.max_tokens is not None:
        config["maxTokens"] = model.max_tokens
    return {
        "config": config,
        "tools": [schema.to_json() for schema in session.tools().schemas()],
    }


def _title(text: str) -> str:
    return " ".join(text.split()[:_TITLE_WORDS])[:_TITLE_LENGTH] or "Untitled"
