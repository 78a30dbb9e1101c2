"""Subjects: every address on the bus, built from plain values.

Each value becomes one token (`remit.bus.tokens`), so that a Thread's token is the same
wherever it appears. Names in capitals are patterns for consumers and watchers.
"""

from __future__ import annotations

from remit.bus.tokens import encode

INBOXES = "inbox.*"
TRIGGERS = "trigger.*.*.*"
THREADS = "thread.*"
TICKETS = "ticket.*"
EVAL_REQUESTS = "eval.request.*"
EVAL_RESULTS = "eval.result.*"
ASSIGNMENTS = "assignment.*.*"
INPUTS = "input.*"
REPORTS = "report.*"
CHANNELS = "channel.*.*"
DISPOSITIONS = "disposition.*"
POLICIES = "policy.*"
DEADLETTERS = "deadletter.*"
THREAD_COMMANDS = "command.thread.*"
TICKET_COMMANDS = "command.ticket.*"
TIMERS = "timer.*.*.*"
CONSOLES = "console.*"
DROPS = "drop.*.*"


def inbox(source: str) -> str:
    """Raw deliveries to a Source instance."""
    return f"inbox.{encode(source)}"


def trigger(source: str, trigger: str, home: str) -> str:
    """One Trigger, on its home Thread."""
    return f"trigger.{encode(source)}.{encode(trigger)}.{encode(home)}"


def trigger_scope(source: str, trigger: str) -> str:
    """One Trigger whatever its home Thread: what must be empty before it is stored."""
    return f"trigger.{encode(source)}.{encode(trigger)}.>"


def triggers_of(source: str) -> str:
    """Every Trigger of a Source instance."""
    return f"trigger.{encode(source)}.>"


def thread(key: str) -> str:
    """The commits of a Thread."""
    return f"thread.{encode(key)}"


def ticket(ticket: str) -> str:
    """The commits of a Ticket."""
    return f"ticket.{encode(ticket)}"


def eval_request(thread: str) -> str:
    """Evals that a Thread asks for."""
    return f"eval.request.{encode(thread)}"


def eval_result(thread: str) -> str:
    """Decisions that Evals propose to a Thread."""
    return f"eval.result.{encode(thread)}"


def assignment(executor: str, ticket: str) -> str:
    """Offers of a Ticket's work to a kind of Executor."""
    return f"assignment.{encode(executor)}.{encode(ticket)}"


def assignments_of(executor: str) -> str:
    """Every offer of work to a kind of Executor."""
    return f"assignment.{encode(executor)}.*"


def input_(ticket: str) -> str:
    """What a Ticket's Executor is to read, in order."""
    return f"input.{encode(ticket)}"


def report(ticket: str) -> str:
    """What an Executor reports on a Ticket."""
    return f"report.{encode(ticket)}"


def channel(source: str, thread: str) -> str:
    """Writes to a Thread of a provider."""
    return f"channel.{encode(source)}.{encode(thread)}"


def channels_of(source: str) -> str:
    """Every write to a provider through a Source instance's Channel.

    One consumer for each: filters on a work queue must not overlap.
    """
    return f"channel.{encode(source)}.*"


def disposition(trigger: str) -> str:
    """What became of a Trigger."""
    return f"disposition.{encode(trigger)}"


def policy(part: str) -> str:
    """Versions of a part of the Policy."""
    return f"policy.{encode(part)}"


def deadletter(stream: str) -> str:
    """What was given up on, from a stream."""
    return f"deadletter.{encode(stream)}"


def command_thread(thread: str) -> str:
    """What other parts, and timers, ask of a Thread."""
    return f"command.thread.{encode(thread)}"


def command_ticket(ticket: str) -> str:
    """What other parts, and timers, ask of a Ticket."""
    return f"command.ticket.{encode(ticket)}"


def timer(aggregate: str, key: str, name: str) -> str:
    """Where a timer is held until it fires; this is what `Publisher.cancel` takes.

    A message with ``deliver_at`` on ``command.<aggregate>.<key>`` and the id ``name`` is held here.

    Args:
        aggregate: ``thread`` or ``ticket``.
        key: The Thread's key or the Ticket's id.
        name: The id of the timer's message. Unique for the aggregate, so an id that holds
            the key is fine and one that does not is fine too.
    """
    return f"timer.{encode(aggregate)}.{encode(key)}.{encode(name)}"


def timer_of(target: str, name: str) -> str:
    """Where the timer with the message id ``name`` is held that fires on ``target``.

    Raises:
        ValueError: ``target`` takes no timers; only commands do.
    """
    kind, _, rest = target.partition(".")
    if kind != "command":
        raise ValueError(f"{target} takes no timers; address a command.<aggregate>.<key>")
    return f"timer.{rest}.{encode(name)}"


def console(conversation: str) -> str:
    """The transcript of a conversation in the console, both sides."""
    return f"console.{encode(conversation)}"


def drop(source: str, reason: str) -> str:
    """Events that a Source instance dropped before they became Triggers, by reason."""
    return f"drop.{encode(source)}.{encode(reason)}"


_TEMPLATES = {
    "inbox": "inbox.{source}",
    "trigger": "trigger.{source}.{trigger}.{thread}",
    "thread": "thread.{thread}",
    "ticket": "ticket.{ticket}",
    "eval.request": "eval.request.{thread}",
    "eval.result": "eval.result.{thread}",
    "assignment": "assignment.{executor}.{ticket}",
    "input": "input.{ticket}",
    "report": "report.{ticket}",
    "channel": "channel.{source}.{thread}",
    "disposition": "disposition.{trigger}",
    "policy": "policy.{part}",
    "deadletter": "deadletter.{stream}",
    "command.thread": "command.thread.{thread}",
    "command.ticket": "command.ticket.{ticket}",
    "timer": "timer.{aggregate}.{key}.{name}",
    "console": "console.{conversation}",
    "drop": "drop.{source}.{reason}",
}


def template(subject: str) -> str:
    """Return the subject with its varying tokens replaced by their names, for span names."""
    tokens = subject.split(".", 2)
    return _TEMPLATES.get(tokens[0]) or _TEMPLATES.get(".".join(tokens[:2])) or tokens[0]


def matches(pattern: str, subject: str) -> bool:
    """Say whether ``subject`` falls under ``pattern`` (``*`` one token, ``>`` the rest)."""
    if pattern == subject:
        return True
    wanted = pattern.split(".")
    given = subject.split(".")
    for place, part in enumerate(wanted):
        if part == ">":
            return len(given) > place
        if place >= len(given) or part not in ("*", given[place]):
            return False
    return len(given) == len(wanted)
