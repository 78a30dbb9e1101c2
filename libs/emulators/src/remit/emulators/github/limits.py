"""The primary rate limit: requests per hour and account, and where one stands."""

from datetime import timedelta
from typing import Any

from fastapi import APIRouter

from .accounts import Caller, HubOf
from .hub import Hub
from .state import Account, RateLimit

router = APIRouter()

_ANONYMOUS = 0
_ANONYMOUS_LIMIT = 60
_LIMIT = 5000
_WINDOW = timedelta(hours=1)


def rate_limit(hub: Hub, account: Account | None) -> RateLimit:
    """Return an account's limit in the present window, or that of all anonymous calls."""
    key = _ANONYMOUS if account is None else account.id
    now = hub.now()
    known = hub.state.rate_limits.get(key)
    if known is None:
        limit = _ANONYMOUS_LIMIT if account is None else _LIMIT
        known = hub.state.rate_limits[key] = RateLimit(limit=limit, resets_at=now + _WINDOW)
    elif known.resets_at <= now:
        known.used, known.resets_at = 0, now + _WINDOW
    return known


def rate_limit_json(limit: RateLimit) -> dict[str, int]:
    """Return a limit in the API's form."""
    return {
        "limit": limit.limit,
        "used": limit.used,
        "remaining": max(0, limit.limit - limit.used),
        "reset": int(limit.resets_at.timestamp()),
    }


@router.get("/rate_limit")
async def get_rate_limit(hub: HubOf, caller: Caller) -> dict[str, Any]:
    """Show where the caller stands; asking costs nothing."""
    core = rate_limit_json(rate_limit(hub, caller))
    return {"resources": {"core": core, "search": core | {"limit": 30}}, "rate": core}
