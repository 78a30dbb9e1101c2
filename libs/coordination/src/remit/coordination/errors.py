"""What can go wrong in coordination.

``CoordinationError``
├── ``CoordinationUnavailable``   Redis did not answer; what was asked may have been done
└── ``LeaseHeld``                 somebody else has the lease now
"""

from __future__ import annotations


class CoordinationError(Exception):
    """Anything that Redis could not do for us."""


class CoordinationUnavailable(CoordinationError):
    """Redis did not answer in time; what was asked may have been done.

    Attributes:
        action: What was being done.
    """

    def __init__(self, action: str) -> None:
        super().__init__(f"Redis did not answer while trying to {action}")
        self.action = action


class LeaseHeld(CoordinationError):
    """Somebody else has the lease now.

    Attributes:
        name: The lease.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"somebody else holds {name}")
        self.name = name
