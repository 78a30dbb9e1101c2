"""Time as the read model keeps it: microseconds since 1970, so that it sorts and compares."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HOUR = 3_600_000_000


def micros(moment: datetime) -> int:
    """Return ``moment`` in microseconds; one without an offset counts as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """Return the time, aware, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def hour_of(moment: datetime) -> int:
    """Return the number of the hour that ``moment`` falls in."""
    return micros(moment) // _HOUR
