"""Misbehaviour on demand: what a test asks the emulator to do wrong, and how often."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from .errors import DOCUMENTATION

SECONDARY_LIMIT = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


class _Fault(BaseModel):
    model_config = ConfigDict(extra="forbid")

    times: int = Field(default=1, gt=0)


class _DeliveryFault(_Fault):
    event: str | None = None

    def concerns(self, event: str) -> bool:
        """Tell whether this fault is meant for an event of this name."""
        return self.times > 0 and self.event in {None, event}


class Duplicate(_DeliveryFault):
    """Send `copies` more of a delivery: under the same GUID, or each under its own."""

    kind: Literal["duplicate"]
    copies: int = Field(default=1, gt=0)
    same_guid: bool = True


class Delay(_DeliveryFault):
    """Send a delivery after some seconds; later ones overtake it."""

    kind: Literal["delay"]
    seconds: float = Field(gt=0)


class Drop(_DeliveryFault):
    """Do not send a delivery; the delivery log shows it as failed unless it is `hidden`."""

    kind: Literal["drop"]
    hidden: bool = False


class Reorder(_DeliveryFault):
    """Hold deliveries back until `window` have come, then send them last first."""

    kind: Literal["reorder"]
    window: int = Field(default=2, gt=1)


class _RequestFault(_Fault):
    method: str | None = None
    path: str = ""

    def concerns(self, method: str, path: str) -> bool:
        """Tell whether this fault is meant for a request; `path` is a part of the URL's path."""
        return self.times > 0 and self.method in {None, method} and self.path in path


class ServerError(_RequestFault):
    """Answer with a 5xx; nothing is done."""

    kind: Literal["server_error"]
    status: int = Field(default=502, ge=500, le=599)


class SecondaryLimit(_RequestFault):
    """Answer with the secondary rate limit, with or without ``Retry-After`` seconds."""

    kind: Literal["secondary_limit"]
    status: Literal[403, 429] = 403
    retry_after: int | None = None


class PrimaryLimit(_RequestFault):
    """Answer with the primary rate limit, which is over after `resets_in` seconds."""

    kind: Literal["primary_limit"]
    status: Literal[403, 429] = 403
    resets_in: int = 3600


class TimeOut(_RequestFault):
    """Do what was asked, then say nothing for some seconds, then answer 504."""

    kind: Literal["time_out"]
    seconds: float = Field(default=30.0, ge=0)


DeliveryFault = Duplicate | Delay | Drop | Reorder
RequestFault = ServerError | SecondaryLimit | PrimaryLimit | TimeOut
Fault = Annotated[DeliveryFault | RequestFault, Field(discriminator="kind")]


@dataclass(frozen=True)
class Refusal:
    """An answer given in place of the real one."""

    status: int
    body: dict[str, str]
    headers: dict[str, str]


def refusal(fault: ServerError | SecondaryLimit | PrimaryLimit, now: datetime) -> Refusal:
    """Return what a client gets instead of its answer."""
    if isinstance(fault, ServerError):
        return Refusal(fault.status, {"message": "Server Error"}, {})
    body = {"documentation_url": DOCUMENTATION}
    if isinstance(fault, SecondaryLimit):
        headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        return Refusal(fault.status, body | {"message": SECONDARY_LIMIT}, headers)
    reset = int(now.timestamp()) + fault.resets_in
    return Refusal(
        fault.status,
        body | {"message": "API rate limit exceeded."},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)},
    )


@dataclass
class Faults:
    """The faults in force; each wears off after its number of times."""

    active: list[DeliveryFault | RequestFault] = field(default_factory=list)

    def add(self, fault: DeliveryFault | RequestFault) -> None:
        """Put a fault in force."""
        self.active.append(fault)

    def clear(self) -> None:
        """End every fault."""
        self.active.clear()

    def for_delivery(self, event: str) -> DeliveryFault | None:
        """Use up and return the first fault meant for this event."""
        for fault in self.active:
            if isinstance(fault, DeliveryFault) and fault.concerns(event):
                self._use(fault)
                return fault
        return None

    def for_request(self, method: str, path: str) -> RequestFault | None:
        """Use up and return the first fault meant for this request."""
        for fault in self.active:
            if isinstance(fault, RequestFault) and fault.concerns(method, path):
                self._use(fault)
                return fault
        return None

    def _use(self, fault: DeliveryFault | RequestFault) -> None:
        fault.times -= 1
        if not fault.times:
            self.active.remove(fault)
