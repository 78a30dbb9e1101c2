"""Triggers and Tickets as text trees: what became of something, and why (DSP-2). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.text import Text
from rich.tree import Tree

Answer = Mapping[str, Any]
"""What the panel's API answers."""


def trigger(answer: Answer) -> Tree:
    """Return what became of a Trigger."""
    found = answer["trigger"]
    root = Tree(Text(f"Trigger {found['id']}", style="bold"))
    actor = found["actor"]
    root.add(f"from {actor['name']} ({actor['actor_class']}, id {actor['id']})")
    root.add(Text(f"said: {_one_line(found['text'])}"))
    if found.get("url"):
        root.add(Text(f"at {found['url']}"))
    fates = root.add(Text("Dispositions" if answer["settled"] else "no Disposition yet"))
    for one in answer["dispositions"]:
        fate = fates.add(Text(one["line"]))
        if decision := one.get("decision"):
            _decision(fate, decision)
    if answer["tickets"]:
        tickets = root.add("Tickets")
        for one in answer["tickets"]:
            tickets.add(Text(ticket_line(one)))
    _timeline(root, answer["timeline"])
    if answer.get("trace_id"):
        root.add(f"trace {answer['trace_id']}")
    return root


def ticket(answer: Answer) -> Tree:
    """Return where a Ticket stands and what was done for it."""
    root = Tree(Text(f"Ticket {answer['id']}  {answer['title']}", style="bold"))
    root.add(Text(f"stage: {answer.get('stage') or answer['status']}"))
    mandate = answer["mandate"]
    under = root.add(Text(f"Mandate: {mandate['scope']}"))
    under.add(f"{mandate['strength']}, Policy {mandate['policy_version']}")
    under.add(Text(f"from {mandate['actor']['name']} on {mandate['source']}"))
    if attention := answer.get("attention"):
        root.add(Text(f"asks: {attention['question']}", style="yellow"))
    _each(root, "Inputs", (f"{one['number']}: {one['kind']}" for one in answer["inputs"]))
    _each(
        root,
        "Assignments",
        (
            f"{one['number']}: {one['state']} {one.get('host') or ''}"
            for one in answer["assignments"]
        ),
    )
    _each(root, "Reports", (f"{one['kind']}: {one['text']}" for one in answer["reports"]))
    _each(root, "Channel writes", map(_write, answer["writes"]))
    _timeline(root, answer["timeline"])
    if answer.get("trace_id"):
        root.add(f"trace {answer['trace_id']}")
    return root


def ticket_line(one: Answer) -> str:
    """Return a Ticket in a line."""
    return f"{one['id']}  {one.get('stage') or one['status']}  {one['title']}"


def overview(answer: Answer) -> Tree:
    """Return whether anything needs a person, and how the system does."""
    root = Tree(Text("Remit", style="bold"))
    counts = answer["needs_person"]["counts"]
    waiting = {name: count for name, count in counts.items() if count}
    if waiting:
        needs = root.add(Text("needs a person", style="yellow"))
        for name, count in waiting.items():
            needs.add(f"{name.replace('_', ' ')}: {count}")
    else:
        root.add(Text("needs nobody", style="green"))
    _each(root, "open Tickets", (f"{k}: {v}" for k, v in answer["open_tickets"].items()))
    _each(
        root,
        "Dispositions, last 24 hours",
        (f"{k}: {v}" for k, v in answer["dispositions"].items()),
    )
    return root


def _decision(above: Tree, decision: Answer) -> None:
    above.add(Text(f"decided by {decision['decided_by']}: {decision['reason']}"))
    for one in decision["gate"]:
        verdict = one["verdict"]
        admitted = "admitted" if verdict["admitted"] else "refused"
        above.add(Text(f"gate: {admitted} ({verdict['reason']})"))


def _write(one: Answer) -> str:
    write, receipt = one.get("write") or {}, one.get("receipt") or {}
    outcome = receipt.get("outcome") or "not answered yet"
    return f"{one['number']}: {write.get('kind', '')} {outcome} {receipt.get('url') or ''}".rstrip()


def _timeline(root: Tree, entries: Iterable[Answer]) -> None:
    lines = root.add("timeline")
    for one in entries:
        text = _one_line(one.get("text") or "")
        at = str(one["at"])[11:23]
        lines.add(Text(f"{at}  {one['what'].replace('_', ' ')}{'  ' + text if text else ''}"))


def _each(root: Tree, title: str, lines: Iterable[str]) -> None:
    every = list(lines)
    if every:
        branch = root.add(title)
        for line in every:
            branch.add(Text(_one_line(line)))


def _one_line(text: str) -> str:
    return " ".join(text.split())
