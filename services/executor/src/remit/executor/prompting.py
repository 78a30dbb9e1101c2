"""Prompts: what an agent is told. The texts are files of this package; this fills them in.

Pure. Everything that comes from outside is labelled with who wrote it and how the gate judged them,
and is fenced (`remit.executor.fencing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from remit.domain.gate import Verdict
from remit.domain.inputs import Input, InputKind
from remit.domain.language import Language
from remit.domain.mandate import Mandate, Strength
from remit.domain.ticket import Ticket
from remit.domain.trigger import Actor
from remit.executor.environment import Variable
from remit.executor.fencing import fenced, quoted
from remit.executor.markers import mandate_marker, marker

_LANGUAGES = {Language.ENGLISH: "English", Language.CHINESE: "Chinese (中文)"}
_BASIS = {
    Strength.EXPLICIT: "explicit: somebody who may ask for work here asked for this.",
    Strength.INFERRED: (
        "inferred: nobody asked for this outright; a written rule allows it. Do the smallest thing "
        "that helps, and nothing that is hard to undo."
    ),
}
_KINDS = {
    InputKind.TRIGGER: "a message or an event",
    InputKind.POLICY_CHANGE: "a change of the rules that you work under; it cancels nothing",
    InputKind.RESUME: "the work is taken up again",
    InputKind.TEXT: "a message",
    InputKind.STOP: "a stop",
}


@cache
def _text(name: str) -> Template:
    return Template((files("remit.executor") / "texts" / f"{name}.md").read_text())


def opening(ticket: Ticket, *, key: str, branch: str, variables: Sequence[Variable]) -> str:
    """Return what an agent is told first: its mandate, where it works and how it speaks.

    Args:
        ticket: The Ticket.
        key: The key of its markers.
        branch: The branch for its work.
        variables: What it may know of its execution environment: no secrets.
    """
    mandate = ticket.mandate
    text = _text("opening").substitute(
        title=quoted(ticket.title),
        scope=quoted(mandate.scope, limit=2000),
        basis=f"{_BASIS[mandate.strength]} {_granted(mandate)}",
        branch=branch,
        variables=_variables(variables),
        language=_LANGUAGES[ticket.language],
    )
    return f"{mandate_marker(ticket.id, key)}\n{text}"


def _granted(mandate: Mandate) -> str:
    return f"It was asked for by {_who(mandate.actor)} on {quoted(mandate.source)}."


def _variables(variables: Sequence[Variable]) -> str:
    if not variables:
        return ""
    lines = [f"- {one.key}={quoted(one.read())}: {one.description}" for one in variables]
    return "\n".join(["", "Variables of your environment:", "", *lines, ""])


def going_on() -> str:
    """Return what an agent is told that was interrupted and has read everything."""
    return _text("continue").substitute()


def interrupted() -> str:
    """Return what stands before Inputs for an agent that was interrupted."""
    return _text("interrupted").substitute()


def again(earlier: Sequence[Input], key: str) -> str:
    """Return what an agent is told whose earlier session is lost, with what was worked on."""
    return "\n\n".join([_text("again").substitute(), *(shown(one, key) for one in earlier)])


def silent() -> str:
    """Return what an agent is told that ended its turn without a word to anybody."""
    return _text("silent").substitute()


def shown(one: Input, key: str) -> str:
    """Return one Input as an agent reads it.

    Args:
        one: The Input.
        key: The key of the Ticket's markers.
    """
    lines = [
        marker(one.ticket, one.number, key),
        f"What: {_KINDS[one.kind]}",
        f"At: {one.at.isoformat()}",
    ]
    trigger = one.trigger
    if trigger is not None:
        lines[1] = f"What: {quoted(trigger.kind)} on {quoted(trigger.source)}"
        lines[2] = f"At: {trigger.occurred_at.isoformat()}"
        lines.append(f"From: {_who(trigger.actor)}; {_admission(one.verdict)}")
        lines.append(f"Where: {quoted(trigger.scope.name)} ({trigger.scope.kind})")
        if trigger.url:
            lines.append(f"Link: {quoted(trigger.url)}")
        if trigger.title:
            lines.append(f"Subject: {quoted(trigger.title)}")
        lines.append(fenced(trigger.text))
    if one.text:
        lines.append(fenced(one.text))
    return "\n".join([*lines, "</input>"])


def _who(actor: Actor) -> str:
    return f"{quoted(actor.name)} ({actor.actor_class}, id {quoted(actor.id)})"


def _admission(verdict: Verdict | None) -> str:
    if verdict is None:
        return "admission not judged"
    if not verdict.admitted:
        return f"not admitted ({verdict.reason})"
    strength = f"{verdict.strength}, " if verdict.strength else ""
    return f"admitted ({strength}{verdict.reason})"
