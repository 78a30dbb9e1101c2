"""Accounts: who calls, how they are shown, and what they may do in a repository."""

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from .errors import AuthenticationError, ForbiddenError, NotFoundError
from .hub import Hub
from .shapes.accounts import public_user_json, user_json
from .state import Account, Repository, Role, Token

router = APIRouter()

ROLES: tuple[Role, ...] = ("read", "triage", "write", "maintain", "admin")
_LEGACY = {"maintain": "write", "triage": "read"}


async def get_hub(request: Request) -> Hub:
    """Return the emulator that answers this request."""
    hub: Hub = request.app.state.hub
    return hub


HubOf = Annotated[Hub, Depends(get_hub)]


def credentials(authorization: str | None) -> str | None:
    """Return the token of an ``Authorization`` header: ``token``, ``Bearer``, or Basic.

    Basic carries the token as the password, or as the user name with an empty password or with
    ``x-oauth-basic``.

    Raises:
        AuthenticationError: The header has no form that GitHub takes.
    """
    if not authorization:
        return None
    kind, _, value = authorization.partition(" ")
    if kind.casefold() in {"token", "bearer"}:
        return value.strip()
    if kind.casefold() == "basic":
        try:
            user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise AuthenticationError("Bad credentials") from error
        return user if password in {"", "x-oauth-basic"} else password
    raise AuthenticationError("Bad credentials")


def authenticate(hub: Hub, authorization: str | None) -> tuple[Account, Token] | None:
    """Return who calls, or nothing for an anonymous call.

    Raises:
        AuthenticationError: A token was given and is not known.
    """
    token = credentials(authorization)
    if token is None:
        return None
    known = hub.account_of_token(token)
    if known is None:
        raise AuthenticationError("Bad credentials")
    return known


async def get_caller(request: Request) -> Account | None:
    """Return who calls, as the envelope found it."""
    caller: Account | None = request.scope.get("emulator.caller")
    return caller


async def get_signed_in(caller: Annotated[Account | None, Depends(get_caller)]) -> Account:
    """Return who calls.

    Raises:
        AuthenticationError: The call is anonymous.
    """
    if caller is None:
        raise AuthenticationError("Requires authentication")
    return caller


Caller = Annotated[Account | None, Depends(get_caller)]
SignedIn = Annotated[Account, Depends(get_signed_in)]


def role_of(repository: Repository, account: Account | None) -> Role | None:
    """Return an account's role in a repository; everybody reads a public one."""
    if account is not None:
        if account.id == repository.owner_id:
            return "admin"
        if account.id in repository.collaborators:
            return repository.collaborators[account.id]
    return None if repository.private else "read"


def has_role(role: Role | None, wanted: Role) -> bool:
    """Tell whether a role includes another."""
    return role is not None and ROLES.index(role) >= ROLES.index(wanted)


@dataclass(frozen=True)
class Access:
    """A caller in a repository that they may at least read."""

    hub: Hub
    repository: Repository
    caller: Account | None
    role: Role

    def writer(self) -> Account:
        """Return the caller of something that any signed-in reader may write.

        Raises:
            AuthenticationError: The call is anonymous.
        """
        if self.caller is None:
            raise AuthenticationError("Requires authentication")
        return self.caller

    def require(self, wanted: Role) -> Account:
        """Return the caller, who must have a role.

        Raises:
            AuthenticationError: The call is anonymous.
            ForbiddenError: The role is not enough.
        """
        caller = self.writer()
        if not has_role(self.role, wanted):
            raise ForbiddenError("Must have admin rights to Repository.")
        return caller

    def require_admin(self) -> Account:
        """Return the caller, who must be an admin; to others the thing is not there.

        Raises:
            AuthenticationError: The call is anonymous.
            NotFoundError: The caller is no admin.
        """
        caller = self.writer()
        if not has_role(self.role, "admin"):
            raise NotFoundError
        return caller


async def get_access(hub: HubOf, caller: Caller, owner: str, repo: str) -> Access:
    """Return the caller's access to the repository in the path.

    Raises:
        NotFoundError: There is no such repository, or the caller may not read it.
    """
    repository = hub.find_repository(owner, repo)
    role = None if repository is None else role_of(repository, caller)
    if repository is None or role is None:
        raise NotFoundError
    return Access(hub, repository, caller, role)


AccessOf = Annotated[Access, Depends(get_access)]


@router.get("/user")
async def get_authenticated_user(hub: HubOf, caller: SignedIn) -> dict[str, Any]:
    """Show who the token belongs to."""
    return public_user_json(hub, caller)


@router.get("/users/{login}")
async def get_user(hub: HubOf, login: str) -> dict[str, Any]:
    """Show an account."""
    return public_user_json(hub, hub.account(login))


@router.get("/repos/{owner}/{repo}/collaborators/{login}/permission")
async def get_permission(access: AccessOf, login: str) -> dict[str, Any]:
    """Show what an account may do in the repository.

    ``permission`` folds `maintain` into `write` and `triage` into `read`; ``role_name`` does not.
    A bot account has no permission to look up and is not found.
    """
    caller = access.writer()
    hub = access.hub
    if not has_role(access.role, "write") and login.casefold() != caller.login.casefold():
        raise ForbiddenError("Must have push access to view collaborator permission.")
    account = hub.account(login)
    if account.type != "User":
        raise NotFoundError(f"{login} is not a user")
    role = role_of(access.repository, account)
    name = role or "none"
    return {
        "permission": _LEGACY.get(name, name),
        "role_name": name,
        "user": user_json(hub, account)
        | {"permissions": permissions_json(role), "role_name": name},
    }


def permissions_json(role: Role | None) -> dict[str, bool]:
    """Return a role as the list of what it allows."""
    wanted: dict[str, Role] = {
        "admin": "admin",
        "maintain": "maintain",
        "push": "write",
        "triage": "triage",
        "pull": "read",
    }
    return {name: has_role(role, needed) for name, needed in wanted.items()}
