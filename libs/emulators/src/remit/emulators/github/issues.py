"""Issues: opening, changing, listing; the issue half of pull requests included."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, StrictStr

from . import webhooks
from .accounts import Access, AccessOf, has_role
from .errors import ForbiddenError, InvalidError, NotEmulatedError, NotFoundError, invalid
from .hub import Hub
from .listing import Direction, PagingOf, parse_since
from .pull_events import emit_pull
from .shapes.accounts import user_json
from .shapes.issues import issue_json, issue_page, issue_with_closer_json, label_json
from .state import Account, Issue, Label, Repository
from .text import check_body, check_title

router = APIRouter()

State = Literal["open", "closed"]
StateReason = Literal["completed", "not_planned", "reopened", "duplicate"]


class _NamedLabel(BaseModel):
    name: StrictStr


class NewIssue(BaseModel):
    """An issue to open."""

    title: StrictStr | None = None
    body: StrictStr | None = None
    labels: list[StrictStr | _NamedLabel] = []
    assignees: list[StrictStr] = []


class IssueChange(BaseModel):
    """What to change of an issue; what is not given stays."""

    title: StrictStr | None = None
    body: StrictStr | None = None
    state: State | None = None
    state_reason: StateReason | None = None
    labels: list[StrictStr | _NamedLabel] | None = None
    assignees: list[StrictStr] | None = None


def find_issue(repository: Repository, number: int) -> Issue:
    """Return an issue or the issue half of a pull request.

    Raises:
        NotFoundError: The repository has none of this number.
    """
    try:
        return repository.issues[number]
    except KeyError:
        raise NotFoundError from None


def new_issue(
    hub: Hub, repository: Repository, by: Account, *, title: str, body: str | None, is_pull: bool
) -> Issue:
    """Number and keep an issue; the caller tells the hooks."""
    now = hub.now()
    repository.last_number += 1
    issue = Issue(
        id=hub.state.next_id("issue"),
        number=repository.last_number,
        user_id=by.id,
        title=title,
        body=body,
        created_at=now,
        updated_at=now,
        is_pull=is_pull,
    )
    repository.issues[issue.number] = issue
    return issue


def may_change(access: Access, author_id: int, wanted: Literal["triage", "write"]) -> Account:
    """Return the caller, who must be the author or have a role.

    Raises:
        AuthenticationError: The call is anonymous.
        ForbiddenError: The caller is neither.
    """
    caller = access.writer()
    if caller.id != author_id and not has_role(access.role, wanted):
        raise ForbiddenError("Must have admin rights to Repository.")
    return caller


async def emit_issue(
    hub: Hub,
    repository: Repository,
    by: Account,
    action: str,
    issue: Issue,
    **extra: Any,
) -> None:
    """Tell the hooks about an issue, or about the pull request that it is half of."""
    if issue.is_pull:
        await emit_pull(hub, repository, by, action, repository.pulls[issue.number], **extra)
        return
    payload = {"issue": issue_json(hub, repository, issue), **extra}
    webhooks.emit(hub, repository, by, "issues", action, payload)


async def set_state(
    hub: Hub,
    repository: Repository,
    by: Account,
    issue: Issue,
    state: State,
    reason: StateReason | None = None,
) -> None:
    """Close or reopen an issue or pull request, and tell the hooks if that changed anything."""
    if issue.state == state:
        return
    now = hub.now()
    issue.state = state
    issue.updated_at = now
    issue.closed_at = now if state == "closed" else None
    issue.closed_by_id = by.id if state == "closed" else None
    if not issue.is_pull:
        issue.state_reason = (reason or "completed") if state == "closed" else "reopened"
    action = "closed" if state == "closed" else "reopened"
    _record(hub, repository, by, action, issue)
    await emit_issue(hub, repository, by, action, issue)


async def edit_text(
    hub: Hub,
    repository: Repository,
    by: Account,
    issue: Issue,
    *,
    title: str | None,
    body: str | None,
) -> None:
    """Change title and body, and tell the hooks what they were before."""
    changes: dict[str, Any] = {}
    if title != issue.title:
        changes["title"] = {"from": issue.title}
    if (body or None) != (issue.body or None):
        changes["body"] = {"from": issue.body or ""}
    if not changes:
        return
    issue.title = check_title("Issue", title)
    issue.body = body
    issue.updated_at = hub.now()
    _record(hub, repository, by, "edited", issue)
    await emit_issue(hub, repository, by, "edited", issue, changes=changes)


def _record(hub: Hub, repository: Repository, by: Account, action: str, issue: Issue) -> None:
    hub.record(
        by,
        repository,
        kind="pull" if issue.is_pull else "issue",
        action=action,
        number=issue.number,
        id=repository.pulls[issue.number].id if issue.is_pull else issue.id,
        title=issue.title,
        body=issue.body,
        html_url=issue_page(hub, repository, issue),
    )


def _names(labels: list[str | _NamedLabel]) -> list[str]:
    return list(dict.fromkeys(it if isinstance(it, str) else it.name for it in labels))


async def _set_labels(
    hub: Hub, repository: Repository, by: Account, issue: Issue, names: list[str]
) -> None:
    for name in names:
        if name not in repository.labels:
            repository.labels[name] = Label(id=hub.state.next_id("label"), name=name)
    before, issue.labels = issue.labels, names
    for action, changed in (
        ("unlabeled", [it for it in before if it not in names]),
        ("labeled", [it for it in names if it not in before]),
    ):
        for name in changed:
            issue.updated_at = hub.now()
            label = label_json(hub, repository, repository.labels[name])
            await emit_issue(hub, repository, by, action, issue, label=label)


async def _set_assignees(
    hub: Hub, repository: Repository, by: Account, issue: Issue, accounts: list[Account]
) -> None:
    before = issue.assignee_ids
    issue.assignee_ids = [it.id for it in accounts]
    for action, changed in (
        ("unassigned", [it for it in before if it not in issue.assignee_ids]),
        ("assigned", [it for it in issue.assignee_ids if it not in before]),
    ):
        for account_id in changed:
            issue.updated_at = hub.now()
            assignee = user_json(hub, hub.state.accounts[account_id])
            await emit_issue(hub, repository, by, action, issue, assignee=assignee)


def _assignable(access: Access, logins: list[str]) -> list[Account]:
    found = []
    for login in dict.fromkeys(logins):
        account = access.hub.find_account(login)
        if account is None:
            raise InvalidError(invalid("Issue", "assignees"))
        found.append(account)
    return found


@router.post("/repos/{owner}/{repo}/issues", status_code=201)
async def create_issue(access: AccessOf, wanted: NewIssue) -> dict[str, Any]:
    """Open an issue; labels and assignees need triage rights, as on GitHub they are dropped."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    title = check_title("Issue", wanted.title)
    check_body("Issue", wanted.body)
    assignees = _assignable(access, wanted.assignees)
    issue = new_issue(hub, repository, by, title=title, body=wanted.body, is_pull=False)
    _record(hub, repository, by, "opened", issue)
    may_triage = has_role(access.role, "triage")
    await emit_issue(hub, repository, by, "opened", issue)
    if may_triage:
        await _set_labels(hub, repository, by, issue, _names(wanted.labels))
        await _set_assignees(hub, repository, by, issue, assignees)
    return issue_with_closer_json(hub, repository, issue)


@router.get("/repos/{owner}/{repo}/issues")
async def list_issues(
    access: AccessOf,
    paging: PagingOf,
    state: Literal["open", "closed", "all"] = "open",
    sort: Literal["created", "updated", "comments"] = "created",
    direction: Direction = "desc",
    since: str | None = None,
    labels: str | None = None,
    creator: str | None = None,
    assignee: str | None = None,
    mentioned: str | None = None,
    milestone: str | None = None,
    issue_type: Annotated[str | None, Query(alias="type")] = None,
) -> list[dict[str, Any]]:
    """List issues and pull requests; ``since`` counts from the last change."""
    for name, value in (("mentioned", mentioned), ("milestone", milestone), ("type", issue_type)):
        if value is not None:
            raise NotEmulatedError(f"list issues by {name}")
    hub, repository = access.hub, access.repository
    earliest = parse_since(since)
    wanted_labels = {it.strip() for it in labels.split(",")} if labels else set()
    author = None if creator is None else hub.find_account(creator)
    assigned = None if assignee in {None, "*", "none"} else hub.find_account(assignee or "")
    rows = [
        it
        for it in repository.issues.values()
        if state in {"all", it.state}
        and (earliest is None or it.updated_at >= earliest)
        and wanted_labels <= set(it.labels)
        and (creator is None or (author is not None and it.user_id == author.id))
        and _is_assigned(it, assignee, assigned)
    ]
    counts = dict.fromkeys(repository.issues, 0)
    if sort == "comments":
        for comment in hub.state.comments.values():
            if comment.repository_id == repository.id:
                counts[comment.number] += 1
    keys = {
        "created": lambda it: (it.created_at, it.number),
        "updated": lambda it: (it.updated_at, it.number),
        "comments": lambda it: (counts[it.number], it.number),
    }
    rows.sort(key=keys[sort], reverse=direction == "desc")
    return [issue_json(hub, repository, it) for it in paging.cut(rows)]


def _is_assigned(issue: Issue, wanted: str | None, account: Account | None) -> bool:
    if wanted is None:
        return True
    if wanted in {"*", "none"}:
        return bool(issue.assignee_ids) == (wanted == "*")
    return account is not None and account.id in issue.assignee_ids


@router.get("/repos/{owner}/{repo}/issues/{number:int}")
async def get_issue(access: AccessOf, number: int) -> dict[str, Any]:
    """Show an issue or the issue half of a pull request."""
    issue = find_issue(access.repository, number)
    return issue_with_closer_json(access.hub, access.repository, issue)


@router.patch("/repos/{owner}/{repo}/issues/{number:int}")
async def change_issue(access: AccessOf, number: int, wanted: IssueChange) -> dict[str, Any]:
    """Change an issue: its author may change the text and state, triage rights the rest."""
    hub, repository = access.hub, access.repository
    issue = find_issue(repository, number)
    by = may_change(access, issue.user_id, "triage")
    given = wanted.model_fields_set
    title = check_title("Issue", wanted.title) if "title" in given else issue.title
    body = wanted.body if "body" in given else issue.body
    check_body("Issue", body)
    assignees = _assignable(access, wanted.assignees or [])
    if issue.is_pull and wanted.state == "open" and repository.pulls[number].merged_at is not None:
        raise InvalidError(invalid("Issue", "state"))
    await edit_text(hub, repository, by, issue, title=title, body=body)
    if has_role(access.role, "triage"):
        if wanted.labels is not None:
            await _set_labels(hub, repository, by, issue, _names(wanted.labels))
        if wanted.assignees is not None:
            await _set_assignees(hub, repository, by, issue, assignees)
    if wanted.state is not None:
        await set_state(hub, repository, by, issue, wanted.state, wanted.state_reason)
    return issue_with_closer_json(hub, repository, issue)
