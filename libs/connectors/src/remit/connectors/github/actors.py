"""Who an account is: by the provider's word and its numeric id, never by its name (A1, A6)."""

from __future__ import annotations

from remit.connectors.github.events.payloads import Account
from remit.domain.trigger import Actor, ActorClass

PERSON = "User"
NOBODY = "ghost"
"""The name that GitHub shows for an account that is gone."""


def actor_of(account: Account | None) -> Actor:
    """Return the actor that ``account`` is.

    Only a ``User`` is a person; everything else that GitHub names is no person and gets what
    a bot gets: nothing, unless the Policy lists its id. Where the account, its id or its type is
    missing, who it is cannot be said: the actor has no id and the gate refuses it for that.
    """
    if account is None:
        return Actor(id="", actor_class=ActorClass.BOT, name=NOBODY)
    known = account.id is not None and account.type
    return Actor(
        id=str(account.id) if known else "",
        actor_class=ActorClass.PERSON if known and account.type == PERSON else ActorClass.BOT,
        name=account.login or NOBODY,
    )
