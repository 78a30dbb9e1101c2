"""The emulator's own API under ``/_emulator``: setting the stage, reading back, causing faults.

Everything people do is done through the REST API itself: below ``/_emulator/as/{login}`` the same
addresses act as that account without a token, without rate limits, and without faults, so
``POST /_emulator/as/alice/repos/acme/shop/issues`` is Alice opening an issue.
"""

import re
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from . import webhooks
from .accounts import HubOf, role_of
from .errors import ApiError, NotFoundError
from .faults import Fault
from .git import Signature
from .hub import Hub
from .limits import rate_limit, rate_limit_json
from .shapes.accounts import public_user_json
from .shapes.repositories import repository_json
from .state import Account, AccountType, Repository, Role, Token, Writing

PREFIX = "/_emulator"

router = APIRouter(prefix=PREFIX)

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
RESERVED = frozenset(
    [
        "api",
        "app",
        "apps",
        "avatars",
        "graphql",
        "installation",
        "login",
        "notifications",
        "organizations",
        "orgs",
        "rate_limit",
        "repositories",
        "repos",
        "search",
        "teams",
        "user",
        "users",
    ]
)
"""First parts of the REST API's addresses, which no account may have as its login."""


class _Wish(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewAccount(_Wish):
    """An account to make; asking for a login that is there gives that account."""

    login: str
    type: AccountType = "User"
    name: str | None = None
    email: str | None = None


class NewToken(_Wish):
    """A token to make for an account: the one given, or a fresh one."""

    login: str
    token: str | None = Field(default=None, min_length=8)
    scopes: list[str] = ["repo", "notifications", "read:org"]


class NewRepository(_Wish):
    """A repository to make: its files from a folder (`seed`) or given by path (`files`)."""

    owner: str
    name: str
    description: str | None = None
    private: bool = False
    default_branch: str = "main"
    seed: Path | None = None
    files: dict[str, str] | None = None
    collaborators: dict[str, Role] = {}


class RoleWish(_Wish):
    """A collaborator's role; null takes the collaborator away."""

    role: Role | None


class LimitWish(_Wish):
    """An account's primary rate limit, and what of it is used."""

    limit: int = Field(gt=0)
    used: int = Field(default=0, ge=0)


def _refused(message: str) -> ApiError:
    return ApiError(message, status=422)


def add_account(hub: Hub, wanted: NewAccount) -> Account:
    """Make an account, or return the one that has the login.

    Raises:
        ApiError: The login is not one that GitHub takes (422).
    """
    if not _LOGIN.fullmatch(wanted.login) or wanted.login.casefold() in RESERVED:
        raise _refused(f"{wanted.login!r} cannot be a login")
    known = hub.find_account(wanted.login)
    if known is not None:
        return known
    account = Account(
        id=hub.state.next_id("account"),
        login=wanted.login,
        type=wanted.type,
        name=wanted.name,
        email=wanted.email,
        created_at=hub.now(),
    )
    hub.state.accounts[account.id] = account
    return account


async def add_repository(hub: Hub, wanted: NewRepository) -> Repository:
    """Make a repository with its git data.

    Raises:
        ApiError: The name is taken or not one that GitHub takes, or the seed is no folder (422).
        NotFoundError: The owner or a collaborator has no account.
    """
    owner = hub.account(wanted.owner)
    if not _NAME.fullmatch(wanted.name) or wanted.name in {".", ".."}:
        raise _refused(f"{wanted.name!r} cannot be a repository's name")
    if hub.find_repository(owner.login, wanted.name) is not None:
        raise _refused(f"{owner.login}/{wanted.name} is already there")
    collaborators = {hub.account(it).id: role for it, role in wanted.collaborators.items()}
    path = hub.git.path(owner.login, wanted.name)
    if path.exists():
        raise _refused(f"the folder {path} is already there; move it away or take another git root")
    by = Signature(
        owner.name or owner.login, owner.email or f"{owner.login}@users.invalid", hub.now()
    )
    branch = wanted.default_branch
    if wanted.seed is None:
        try:
            await hub.git.create_from_files(
                path, default_branch=branch, files=wanted.files or {}, by=by
            )
        except ValueError as error:
            raise _refused(str(error)) from error
    elif wanted.seed.is_dir():
        await hub.git.create(path, default_branch=branch, seed=wanted.seed.resolve(), by=by)
    else:
        raise _refused(f"the seed {wanted.seed} is no folder")
    now = hub.now()
    repository = Repository(
        id=hub.state.next_id("repository"),
        owner_id=owner.id,
        name=wanted.name,
        description=wanted.description,
        private=wanted.private,
        default_branch=branch,
        created_at=now,
        updated_at=now,
        pushed_at=now,
        collaborators=collaborators,
        refs=await hub.git.refs(path),
    )
    hub.state.repositories[repository.id] = repository
    return repository


def _repository(hub: Hub, owner: str, repo: str) -> Repository:
    found = hub.find_repository(owner, repo)
    if found is None:
        raise NotFoundError
    return found


@router.get("/")
async def summarise(hub: HubOf) -> dict[str, Any]:
    """Say what is there; answering at all says that the emulator runs."""
    return {
        "base_url": hub.settings.base_url,
        "accounts": sorted(it.login for it in hub.state.accounts.values()),
        "repositories": {
            hub.full_name(it): str(hub.git_path(it).resolve())
            for it in hub.state.repositories.values()
        },
        "written": len(hub.state.journal),
    }


@router.post("/accounts", status_code=201)
async def create_account(hub: HubOf, wanted: NewAccount) -> dict[str, Any]:
    """Make an account."""
    account = add_account(hub, wanted)
    hub.save()
    return public_user_json(hub, account)


@router.post("/tokens", status_code=201)
async def create_token(hub: HubOf, wanted: NewToken) -> dict[str, Any]:
    """Make a token for an account."""
    account = hub.account(wanted.login)
    token = wanted.token or hub.new_token(account)
    hub.state.tokens[token] = Token(token=token, account_id=account.id, scopes=wanted.scopes)
    hub.save()
    return {"token": token, "login": account.login}


@router.delete("/tokens/{token}", status_code=204)
async def revoke_token(hub: HubOf, token: str) -> None:
    """Make a token invalid, as when it expired."""
    if hub.state.tokens.pop(token, None) is None:
        raise NotFoundError
    hub.save()


@router.put("/accounts/{login}/rate_limit")
async def set_rate_limit(hub: HubOf, login: str, wanted: LimitWish) -> dict[str, int]:
    """Set an account's primary rate limit."""
    limit = rate_limit(hub, hub.account(login))
    limit.limit, limit.used = wanted.limit, wanted.used
    hub.save()
    return rate_limit_json(limit)


@router.post("/repos", status_code=201)
async def create_repository(hub: HubOf, wanted: NewRepository) -> dict[str, Any]:
    """Make a repository; the answer's ``git_path`` is its folder."""
    repository = await add_repository(hub, wanted)
    hub.save()
    path = str(hub.git_path(repository).resolve())
    return repository_json(hub, repository) | {"git_path": path}


@router.put("/repos/{owner}/{repo}/collaborators/{login}")
async def set_role(
    hub: HubOf, owner: str, repo: str, login: str, wanted: RoleWish
) -> dict[str, Any]:
    """Give a collaborator a role, or take the collaborator away."""
    repository = _repository(hub, owner, repo)
    account = hub.account(login)
    repository.collaborators.pop(account.id, None)
    if wanted.role is not None:
        repository.collaborators[account.id] = wanted.role
    hub.save()
    return {"login": account.login, "role": role_of(repository, account)}


@router.post("/repos/{owner}/{repo}/hooks", status_code=201)
async def create_hook(
    hub: HubOf, owner: str, repo: str, wanted: webhooks.NewHook
) -> dict[str, Any]:
    """Add a hook in the owner's name; it is pinged at once."""
    repository = _repository(hub, owner, repo)
    hook = webhooks.add_hook(hub, repository, hub.owner(repository), wanted)
    hub.save()
    return {"id": hook.id, "url": hook.url, "events": hook.events}


@router.get("/written")
async def list_written(
    hub: HubOf, by: str | None = None, kind: str | None = None, after: int = 0
) -> list[Writing]:
    """List everything that was written, in order, by whom and of which kind one asks."""
    return [
        it
        for it in hub.state.journal
        if it.seq > after
        and (by is None or it.by.casefold() == by.casefold())
        and kind in {None, it.kind}
    ]


@router.get("/faults")
async def list_faults(hub: HubOf) -> list[dict[str, Any]]:
    """List the faults in force with what is left of them."""
    return [it.model_dump() for it in hub.faults.active]


@router.post("/faults", status_code=201)
async def add_fault(hub: HubOf, fault: Annotated[Fault, Body()]) -> dict[str, Any]:
    """Put a fault in force; see `remit.emulators.github.faults` for the kinds."""
    hub.faults.add(fault)
    return fault.model_dump()


@router.delete("/faults", status_code=204)
async def clear_faults(hub: HubOf) -> None:
    """End every fault and send what was held back."""
    hub.faults.clear()
    hub.dispatcher.release()


@router.post("/settle")
async def settle(hub: HubOf) -> dict[str, int]:
    """Wait until every webhook delivery was tried."""
    await hub.dispatcher.settle()
    return {"deliveries": len(hub.state.deliveries)}


@router.post("/reset", status_code=204)
async def reset(hub: HubOf) -> None:
    """Forget everything, and delete the repositories that this emulator made."""
    await hub.dispatcher.forget()
    hub.clear()


class ActAs:
    """Serves the REST application as an account that the path names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request below ``/_emulator/as/``."""
        root = scope.get("root_path", "")
        login, _, rest = scope["path"].removeprefix(root).lstrip("/").partition("/")
        if not login or not rest:
            answer = JSONResponse({"message": "Say whom to act as, then a REST path"}, 404)
            await answer(scope, receive, send)
            return
        inner = dict(scope) | {"root_path": f"{root}/{login}", "emulator.login": login}
        await self._app(inner, receive, send)
