"""Everything the emulator remembers, as one document that can be written to a file.

People are referred to by their numeric id, never by their login, because on GitHub a login can
change hands. Each kind of object numbers itself from the same start, so that an issue comment and
a review comment share ids, as they may on GitHub: a client that keys by the bare number is found
out.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

AccountType = Literal["User", "Bot", "Organization"]
Role = Literal["read", "triage", "write", "maintain", "admin"]
ReviewState = Literal["PENDING", "COMMENTED", "APPROVED", "CHANGES_REQUESTED", "DISMISSED"]
Side = Literal["LEFT", "RIGHT"]
ReactionContent = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]
ReactionSubject = Literal["issue", "issue_comment", "review_comment"]

FIRST_ID = 1001


class StateFileError(Exception):
    """The snapshot cannot be read; nothing was changed.

    Attributes:
        path: The snapshot's file.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"the emulator's state file {path} cannot be read ({reason}); "
            "move it away to start empty"
        )
        self.path = path


class Account(BaseModel):
    """A person, a bot, or an organisation, with the numeric id that stays when logins change."""

    id: int
    login: str
    type: AccountType = "User"
    name: str | None = None
    email: str | None = None
    created_at: datetime


class Token(BaseModel):
    """A classic personal access token; `scopes` are shown in ``X-OAuth-Scopes``."""

    token: str
    account_id: int
    scopes: list[str] = Field(default_factory=lambda: ["repo", "notifications", "read:org"])


class RateLimit(BaseModel):
    """One account's primary limit: `used` of `limit` requests until `resets_at`."""

    limit: int = 5000
    used: int = 0
    resets_at: datetime


class Label(BaseModel):
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


class Issue(BaseModel):
    """An issue, or the issue half of a pull request (then `is_pull` is true)."""

    id: int
    number: int
    user_id: int
    title: str
    body: str | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: Literal["completed", "not_planned", "reopened", "duplicate"] | None = None
    labels: list[str] = Field(default_factory=list)
    assignee_ids: list[int] = Field(default_factory=list)
    closed_by_id: int | None = None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    is_pull: bool = False


class Pull(BaseModel):
    """The pull half of a pull request; title, body, and state are on its `Issue`.

    Attributes:
        head_sha: Last commit of the head branch that was seen; stays when the branch goes.
        base_sha: Tip of the base branch when `head_sha` was seen.
    """

    id: int
    number: int
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool = False
    maintainer_can_modify: bool = False
    merged_at: datetime | None = None
    merged_by_id: int | None = None
    merge_commit_sha: str | None = None


class Hook(BaseModel):
    """A repository webhook."""

    id: int
    url: str
    secret: str | None = None
    content_type: Literal["json", "form"] = "json"
    events: list[str] = Field(default_factory=lambda: ["push"])
    active: bool = True
    created_at: datetime
    updated_at: datetime


class Repository(BaseModel):
    """A repository with what is numbered inside it.

    Attributes:
        collaborators: Role by account id, the owner not included.
        refs: Every ref with its commit as last seen; a difference to git is a push.
        last_number: Highest number given to an issue or pull request.
    """

    id: int
    owner_id: int
    name: str
    description: str | None = None
    private: bool = False
    default_branch: str = "main"
    created_at: datetime
    updated_at: datetime
    pushed_at: datetime
    collaborators: dict[int, Role] = Field(default_factory=dict)
    refs: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, Label] = Field(default_factory=dict)
    issues: dict[int, Issue] = Field(default_factory=dict)
    pulls: dict[int, Pull] = Field(default_factory=dict)
    hooks: dict[int, Hook] = Field(default_factory=dict)
    last_number: int = 0


class IssueComment(BaseModel):
    """A comment in the conversation of an issue or pull request."""

    id: int
    repository_id: int
    number: int
    user_id: int
    body: str
    created_at: datetime
    updated_at: datetime


class Review(BaseModel):
    """A review of a pull request; `submitted_at` is empty while it is pending."""

    id: int
    repository_id: int
    number: int
    user_id: int
    body: str = ""
    state: ReviewState
    commit_id: str
    submitted_at: datetime | None = None
    updated_at: datetime


class ReviewComment(BaseModel):
    """A comment on a line of a pull request's difference."""

    id: int
    repository_id: int
    number: int
    review_id: int
    user_id: int
    body: str
    path: str
    line: int
    side: Side
    start_line: int | None = None
    start_side: Side | None = None
    position: int
    diff_hunk: str
    commit_id: str
    in_reply_to_id: int | None = None
    created_at: datetime
    updated_at: datetime


class Reaction(BaseModel):
    """One person's reaction to an issue or comment."""

    id: int
    subject: ReactionSubject
    subject_id: int
    repository_id: int
    user_id: int
    content: ReactionContent
    created_at: datetime


class Delivery(BaseModel):
    """One attempt to deliver an event to a hook, as the delivery log keeps it.

    Attributes:
        guid: Same for every attempt to deliver the same event to the same hook.
        done: False while it waits to be sent; such a delivery is sent after a restart.
        hidden: Dropped so that not even the log knows it.
    """

    id: int
    guid: str
    hook_id: int
    repository_id: int
    event: str
    action: str | None
    url: str
    delivered_at: datetime
    redelivery: bool = False
    done: bool = False
    hidden: bool = False
    status: str = "pending"
    status_code: int = 0
    duration: float = 0.0
    request_headers: dict[str, str]
    payload: str
    response_headers: dict[str, str] = Field(default_factory=dict)
    response_body: str = ""


class Writing(BaseModel):
    """One line of the journal of everything that was written, in order."""

    seq: int
    at: datetime
    by: str
    kind: Literal[
        "issue", "comment", "pull", "review", "review_comment", "reaction", "merge", "push"
    ]
    action: str
    repository: str
    number: int | None = None
    id: int | str
    title: str | None = None
    body: str | None = None
    html_url: str


class State(BaseModel):
    """The whole memory of one emulator."""

    version: Literal[1] = 1
    sequences: dict[str, int] = Field(default_factory=dict)
    accounts: dict[int, Account] = Field(default_factory=dict)
    tokens: dict[str, Token] = Field(default_factory=dict)
    rate_limits: dict[int, RateLimit] = Field(default_factory=dict)
    repositories: dict[int, Repository] = Field(default_factory=dict)
    comments: dict[int, IssueComment] = Field(default_factory=dict)
    reviews: dict[int, Review] = Field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = Field(default_factory=dict)
    reactions: dict[int, Reaction] = Field(default_factory=dict)
    deliveries: dict[int, Delivery] = Field(default_factory=dict)
    journal: list[Writing] = Field(default_factory=list)

    def next_id(self, kind: str) -> int:
        """Return the next numeric id of a kind of object."""
        number = self.sequences.get(kind, FIRST_ID - 1) + 1
        self.sequences[kind] = number
        return number


def read_state(path: Path) -> State:
    """Read a snapshot; a missing file is an empty state.

    Raises:
        StateFileError: The file is there and is no snapshot of this version.
    """
    try:
        return State.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return State()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise StateFileError(path, f"{place}: {first['msg']}") from error


def write_state(state: State, path: Path) -> None:
    """Replace the snapshot in one step, so that a crash leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half_written = path.with_name(path.name + ".new")
    with half_written.open("wb") as file:
        file.write(state.model_dump_json().encode())
        file.flush()
        os.fsync(file.fileno())
    half_written.replace(path)
