"""Webhooks: the hooks of a repository, what they are told, and the log of deliveries."""

import hashlib
import hmac
import json
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, StrictBool, StrictStr, StringConstraints

from .accounts import AccessOf
from .errors import InvalidError, NotFoundError, custom, missing
from .hub import Hub, timestamp
from .listing import PagingOf
from .shapes.accounts import organization_json, user_json
from .shapes.repositories import repository_json
from .state import Account, Delivery, Hook, Repository

router = APIRouter()

_USER_AGENT = "GitHub-Hookshot/emulator"
_DELIVERIES_PER_PAGE = 100
_HIDDEN_SECRET = "********"  # noqa: S105 - what the API shows in place of a secret


def emit(
    hub: Hub,
    repository: Repository,
    sender: Account,
    event: str,
    action: str | None,
    payload: dict[str, Any],
) -> None:
    """Tell every hook of a repository that listens to an event what happened.

    The sender's own hooks are told too, as GitHub does.
    """
    for hook in repository.hooks.values():
        if hook.active and ("*" in hook.events or event in hook.events or event == "ping"):
            _deliver(hub, repository, hook, sender, event, action, payload)


def _deliver(
    hub: Hub,
    repository: Repository,
    hook: Hook,
    sender: Account,
    event: str,
    action: str | None,
    payload: dict[str, Any],
) -> None:
    owner = hub.owner(repository)
    whole: dict[str, Any] = {} if action is None else {"action": action}
    whole |= payload
    whole.setdefault("repository", repository_json(hub, repository))
    if owner.type == "Organization":
        whole["organization"] = organization_json(hub, owner)
    whole["sender"] = user_json(hub, sender)
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    body = text if hook.content_type == "json" else urlencode({"payload": text})
    guid = hub.new_guid()
    hub.dispatcher.enqueue(
        Delivery(
            id=hub.state.next_id("delivery"),
            guid=guid,
            hook_id=hook.id,
            repository_id=repository.id,
            event=event,
            action=action,
            url=hook.url,
            delivered_at=hub.now(),
            request_headers=_headers(hook, repository, event, guid, body.encode()),
            payload=body,
        )
    )


def _headers(
    hook: Hook, repository: Repository, event: str, guid: str, body: bytes
) -> dict[str, str]:
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/json"
        if hook.content_type == "json"
        else "application/x-www-form-urlencoded",
        "User-Agent": _USER_AGENT,
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": str(hook.id),
        "X-GitHub-Hook-Installation-Target-ID": str(repository.id),
        "X-GitHub-Hook-Installation-Target-Type": "repository",
    }
    if hook.secret:
        key = hook.secret.encode()
        headers["X-Hub-Signature"] = "sha1=" + hmac.new(key, body, hashlib.sha1).hexdigest()
        headers["X-Hub-Signature-256"] = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
    return headers


def add_hook(hub: Hub, repository: Repository, by: Account, wanted: "NewHook") -> Hook:
    """Add a hook to a repository and ping it."""
    now = hub.now()
    hook = Hook(
        id=hub.state.next_id("hook"),
        url=wanted.config.url,
        secret=wanted.config.secret,
        content_type=wanted.config.content_type,
        events=wanted.events,
        active=wanted.active,
        created_at=now,
        updated_at=now,
    )
    repository.hooks[hook.id] = hook
    ping = {
        "zen": "Keep it logically awesome.",
        "hook_id": hook.id,
        "hook": _hook_json(hub, repository, hook),
    }
    if hook.active:
        _deliver(hub, repository, hook, by, "ping", None, ping)
    return hook


def _hook_json(hub: Hub, repository: Repository, hook: Hook) -> dict[str, Any]:
    api = hub.api_of(repository, f"/hooks/{hook.id}")
    config = {"url": hook.url, "content_type": hook.content_type, "insecure_ssl": "0"}
    if hook.secret:
        config["secret"] = _HIDDEN_SECRET
    last = next(
        (
            it
            for it in reversed(hub.state.deliveries.values())
            if it.hook_id == hook.id and it.done and not it.hidden
        ),
        None,
    )
    return {
        "type": "Repository",
        "id": hook.id,
        "name": "web",
        "active": hook.active,
        "events": hook.events,
        "config": config,
        "created_at": timestamp(hook.created_at),
        "updated_at": timestamp(hook.updated_at),
        "url": api,
        "test_url": f"{api}/test",
        "ping_url": f"{api}/pings",
        "deliveries_url": f"{api}/deliveries",
        "last_response": {"code": None, "status": "unused", "message": None}
        if last is None
        else {
            "code": last.status_code,
            "status": "active" if last.status == "OK" else "misconfigured",
            "message": last.status,
        },
    }


class HookConfig(BaseModel):
    """Where and how a hook is told."""

    url: Annotated[StrictStr, StringConstraints(min_length=1)]
    content_type: Literal["json", "form"] = "form"
    secret: StrictStr | None = None


class NewHook(BaseModel):
    """A hook to make."""

    config: HookConfig
    events: list[StrictStr] = ["push"]
    active: StrictBool = True


def _hook(repository: Repository, hook_id: int) -> Hook:
    try:
        return repository.hooks[hook_id]
    except KeyError:
        raise NotFoundError from None


def _shown(hub: Hub, hook_id: int) -> list[Delivery]:
    return [
        it
        for it in hub.state.deliveries.values()
        if it.hook_id == hook_id and it.done and not it.hidden
    ]


def _delivery(hub: Hub, hook_id: int, delivery_id: int) -> Delivery:
    found = hub.state.deliveries.get(delivery_id)
    if found is None or found.hook_id != hook_id or not found.done or found.hidden:
        raise NotFoundError
    return found


def _delivery_json(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": timestamp(delivery.delivered_at),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": None,
        "repository_id": delivery.repository_id,
        "throttled_at": None,
    }


@router.get("/repos/{owner}/{repo}/hooks")
async def list_hooks(access: AccessOf, paging: PagingOf) -> list[dict[str, Any]]:
    """List the hooks."""
    access.require_admin()
    hooks = list(access.repository.hooks.values())
    return [_hook_json(access.hub, access.repository, it) for it in paging.cut(hooks)]


@router.post("/repos/{owner}/{repo}/hooks", status_code=201)
async def create_hook(access: AccessOf, wanted: NewHook) -> dict[str, Any]:
    """Add a hook; it is pinged at once."""
    by = access.require_admin()
    repository = access.repository
    if not wanted.events:
        raise InvalidError(missing("Hook", "events"))
    if any(it.url == wanted.config.url for it in repository.hooks.values()):
        raise InvalidError(custom("Hook", "Hook already exists on this repository"))
    hook = add_hook(access.hub, repository, by, wanted)
    return _hook_json(access.hub, repository, hook)


@router.get("/repos/{owner}/{repo}/hooks/{hook_id:int}")
async def get_hook(access: AccessOf, hook_id: int) -> dict[str, Any]:
    """Show a hook."""
    access.require_admin()
    return _hook_json(access.hub, access.repository, _hook(access.repository, hook_id))


@router.delete("/repos/{owner}/{repo}/hooks/{hook_id:int}", status_code=204)
async def delete_hook(access: AccessOf, hook_id: int) -> None:
    """Remove a hook."""
    access.require_admin()
    _hook(access.repository, hook_id)
    del access.repository.hooks[hook_id]


@router.get("/repos/{owner}/{repo}/hooks/{hook_id:int}/deliveries")
async def list_deliveries(
    access: AccessOf,
    hook_id: int,
    request: Request,
    response: Response,
    per_page: int = 30,
    cursor: str | None = None,
    status: Literal["success", "failure"] | None = None,
) -> list[dict[str, Any]]:
    """List a hook's deliveries, last first, from a cursor that the ``Link`` header gives."""
    access.require_admin()
    _hook(access.repository, hook_id)
    rows = sorted(_shown(access.hub, hook_id), key=lambda it: it.id, reverse=True)
    if status is not None:
        rows = [it for it in rows if (it.status == "OK") == (status == "success")]
    if cursor is not None:
        before = cursor.removeprefix("v1_")
        if not before.isdecimal():
            raise InvalidError(custom("Hook", "cursor is not one that this API gave", "cursor"))
        rows = [it for it in rows if it.id < int(before)]
    size = min(max(per_page, 1), _DELIVERIES_PER_PAGE)
    page = rows[:size]
    if len(rows) > size:
        following = request.url.include_query_params(cursor=f"v1_{page[-1].id}")
        response.headers["Link"] = f'<{following}>; rel="next"'
    return [_delivery_json(it) for it in page]


@router.get("/repos/{owner}/{repo}/hooks/{hook_id:int}/deliveries/{delivery_id:int}")
async def get_delivery(access: AccessOf, hook_id: int, delivery_id: int) -> dict[str, Any]:
    """Show a delivery with what was sent and what came back."""
    access.require_admin()
    hook = _hook(access.repository, hook_id)
    delivery = _delivery(access.hub, hook_id, delivery_id)
    payload = delivery.payload
    sent = json.loads(payload) if hook.content_type == "json" else {"payload": payload}
    return _delivery_json(delivery) | {
        "url": delivery.url,
        "request": {"headers": delivery.request_headers, "payload": sent},
        "response": {"headers": delivery.response_headers, "payload": delivery.response_body},
    }


@router.post(
    "/repos/{owner}/{repo}/hooks/{hook_id:int}/deliveries/{delivery_id:int}/attempts",
    status_code=202,
)
async def redeliver(access: AccessOf, hook_id: int, delivery_id: int) -> dict[str, Any]:
    """Send a delivery again, under the same GUID."""
    access.require_admin()
    hub = access.hub
    _hook(access.repository, hook_id)
    delivery = _delivery(hub, hook_id, delivery_id)
    hub.dispatcher.redeliver(
        delivery.model_copy(
            deep=True,
            update={
                "id": hub.state.next_id("delivery"),
                "redelivery": True,
                "done": False,
                "status": "pending",
                "status_code": 0,
            },
        )
    )
    return {}
