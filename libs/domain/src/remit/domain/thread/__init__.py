"""Threads: Triggers in time order, their Subscriptions, one Eval at a time (THR-1..5).

A decider: `decide` says what a command leads to, `evolve` what an event makes of the Thread. The
Thread keeps references and the last few of everything; its full history is its earlier commits.
"""

from remit.domain.thread.commands import (
    AppendTrigger,
    DiscardEval,
    DropSubscriptions,
    EndEval,
    NoteStanding,
    RecordDecision,
    SettleDelivery,
    SubscribeTicket,
    ThreadCommand,
)
from remit.domain.thread.decider import Taken, decide, decide_all
from remit.domain.thread.events import (
    DecisionRecorded,
    DeliverySettled,
    EvalDiscarded,
    EvalStarted,
    StandingNoted,
    SubscriptionDropped,
    ThreadEvent,
    TicketSubscribed,
    TriggerAppended,
    TriggerReturned,
)
from remit.domain.thread.evolution import evolve, evolve_all
from remit.domain.thread.refusals import (
    HistoryNeeded,
    RequestMissing,
    SubscriptionKept,
    ThreadRefusal,
)
from remit.domain.thread.state import DecisionSummary, FanOut, Pending, RunningEval, Thread

__all__ = [
    "AppendTrigger",
    "DecisionRecorded",
    "DecisionSummary",
    "DeliverySettled",
    "DiscardEval",
    "DropSubscriptions",
    "EndEval",
    "EvalDiscarded",
    "EvalStarted",
    "FanOut",
    "HistoryNeeded",
    "NoteStanding",
    "Pending",
    "RecordDecision",
    "RequestMissing",
    "RunningEval",
    "SettleDelivery",
    "StandingNoted",
    "SubscribeTicket",
    "SubscriptionDropped",
    "SubscriptionKept",
    "Taken",
    "Thread",
    "ThreadCommand",
    "ThreadEvent",
    "ThreadRefusal",
    "TicketSubscribed",
    "TriggerAppended",
    "TriggerReturned",
    "decide",
    "decide_all",
    "evolve",
    "evolve_all",
]
