"""What is read of GitHub's payloads: little, and tolerantly, because they change.

See https://docs.github.com/en/webhooks/webhook-events-and-payloads.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict

from remit.connectors.github.place import is_repository


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_or_empty)]
"""A text that GitHub may leave out or give as null."""


def _is_repository(value: str) -> str:
    if not is_repository(value):
        raise ValueError("is no repository's name")
    return value


class Payload(BaseModel):
    """A part of a payload; what is not named here is not looked at."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Account(Payload):
    """Somebody on GitHub. ``type`` and ``id`` say who; the login is for display."""

    id: int | None = None
    login: Text = ""
    type: Text = ""


class App(Payload):
    """A GitHub App that stands between a person and what was written."""

    slug: Text = ""


class Repository(Payload):
    """A repository; where ``private`` is missing, anybody may write there for all we know."""

    id: int
    full_name: Annotated[str, AfterValidator(_is_repository)]
    private: bool = False
    default_branch: Text = ""


class Head(Payload):
    """One end of a pull request."""

    ref: Text = ""
    sha: Text = ""


class Written(Payload):
    """Anything that somebody wrote."""

    user: Account | None = None
    body: Text = ""
    html_url: Text = ""
    author_association: Text = ""
    performed_via_github_app: App | None = None


class Numbered(Written):
    """An issue or a pull request."""

    number: int
    title: Text = ""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    closed_at: AwareDatetime | None = None


class Issue(Numbered):
    """An issue; ``pull_request`` is there where it is the conversation of one."""

    pull_request: Any = None


class PullRequest(Numbered):
    """A pull request."""

    head: Head = Head()
    base: Head = Head()
    draft: bool | None = None
    merged_at: AwareDatetime | None = None


class Comment(Written):
    """A comment in the conversation of an issue or pull request."""

    id: int
    created_at: AwareDatetime
    updated_at: AwareDatetime


class ReviewComment(Comment):
    """A comment on a line of a pull request's difference."""

    in_reply_to_id: int | None = None
    path: Text = ""
    line: int | None = None
    commit_id: Text = ""

    @property
    def root(self) -> int:
        """The comment that its review thread began with."""
        return self.id if self.in_reply_to_id is None else self.in_reply_to_id


class Review(Written):
    """A review of a pull request."""

    id: int
    state: Text = ""
    commit_id: Text = ""
    submitted_at: AwareDatetime | None = None


class Changes(Payload):
    """What an edit changed, with what was there before."""

    title: Any = None
    body: Any = None


class Event(Payload):
    """What every event has."""

    repository: Repository
    sender: Account | None = None
    changes: Changes | None = None


class IssuesEvent(Event):
    """``issues``."""

    issue: Issue


class IssueCommentEvent(Event):
    """``issue_comment``: also of a pull request's conversation."""

    issue: Issue
    comment: Comment


class PullRequestEvent(Event):
    """``pull_request``."""

    pull_request: PullRequest


class ReviewEvent(Event):
    """``pull_request_review``."""

    pull_request: PullRequest
    review: Review


class ReviewCommentEvent(Event):
    """``pull_request_review_comment``."""

    pull_request: PullRequest
    comment: ReviewComment
