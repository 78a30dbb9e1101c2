"""The local GitHub of the demo: it sets the stage, speaks for people, and shows what was written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from remit.cli.demo import story
from remit.cli.supervisor import Program

HOST = "127.0.0.1"
_ANSWER_WITHIN = 10.0
_LOOK_EVERY = 0.05
_BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as people see it.

    Attributes:
        id: The provider's id.
        author: Who wrote it.
        body: What it says.
    """

    id: int
    author: str
    body: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as people see it.

    Attributes:
        number: Its number.
        author: Who opened it.
        title: Its title.
        state: open or closed.
        branch: The branch with the work.
        head: The newest commit on it.
        url: Where people find it.
        commits: The subjects of its commits, the oldest first.
    """

    number: int
    author: str
    title: str
    state: str
    branch: str
    head: str
    url: str
    commits: tuple[str, ...]


def program(folder: Path, port: int) -> Program:
    """Return the emulator as a program; what it holds survives its death."""
    return Program(
        name="github",
        command=(
            *(sys.executable, "-m", "remit.emulators.github"),
            *("--port", str(port)),
            *("--git-root", str(folder / "git")),
            *("--state", str(folder / "state.json")),
        ),
    )


class LocalGitHub:
    """A client of the emulator.

    Args:
        url: Where it is.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._hook: int | None = None
        self._client = httpx.AsyncClient(
            base_url=url, timeout=_ANSWER_WITHIN, headers={"User-Agent": "remit-demo"}
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()

    async def until_there(self) -> None:
        """Wait until it answers."""
        while True:
            try:
                answer = await self._client.get("/_emulator/")
            except httpx.TransportError:
                await asyncio.sleep(_LOOK_EVERY)
            else:
                if answer.is_success:
                    return
                await asyncio.sleep(_LOOK_EVERY)

    async def set_stage(self) -> story.Cast:
        """Make the accounts, the repository and the issue; return who is who."""
        ids = {
            login: str((await self._make("accounts", login=login))["id"])
            for login in (story.OWNER, story.PERSON, story.STRANGER, story.AGENT)
        }
        await self._make(
            "repos",
            owner=story.OWNER,
            name=story.REPOSITORY,
            default_branch=story.BRANCH,
            files=dict(story.FILES),
            collaborators={story.PERSON: "write", story.AGENT: "write"},
        )
        token = await self._make("tokens", login=story.AGENT)
        await self._as(story.PERSON, "issues", title=story.ISSUE_TITLE, body=story.ISSUE_BODY)
        return story.Cast(
            person=ids[story.PERSON],
            stranger=ids[story.STRANGER],
            agent=ids[story.AGENT],
            token=token["token"],
        )

    async def deliver_to(self, url: str, secret: str) -> None:
        """Send signed webhooks to ``url`` from now on."""
        made = await self._make(
            f"repos/{story.FULL_NAME}/hooks",
            config={"url": url, "content_type": "json", "secret": secret},
            events=["issues", "issue_comment", "pull_request"],
        )
        self._hook = made["id"]

    async def deliver_again(self) -> list[str]:
        """Send again what nobody took, as the provider's API lets its users; return the events.

        A provider does not do so by itself: what is delivered while the receiver is away comes
        again only if somebody asks for it.
        """
        if self._hook is None:
            return []
        attempts = await self._get(f"hooks/{self._hook}/deliveries?per_page=100", by=story.OWNER)
        taken = {one["guid"] for one in attempts if one["status_code"] < _BAD_REQUEST}
        lost = {one["guid"]: one for one in attempts if one["guid"] not in taken}
        for one in lost.values():
            path = f"hooks/{self._hook}/deliveries/{one['id']}/attempts"
            await self._as(story.OWNER, path)
        return [one["event"] for one in lost.values()]

    async def comment(self, login: str, issue: int, text: str) -> None:
        """Write a comment in somebody's name."""
        await self._as(login, f"issues/{issue}/comments", body=text)

    async def comments(self, issue: int) -> list[Comment]:
        """Return the comments on an issue, the oldest first."""
        found = await self._get(f"issues/{issue}/comments?per_page=100")
        return [Comment(one["id"], one["user"]["login"], one["body"]) for one in found]

    async def pull_requests(self) -> list[PullRequest]:
        """Return every pull request, the oldest first."""
        found = await self._get("pulls?state=all&per_page=100&direction=asc")
        return [
            PullRequest(
                number=one["number"],
                author=one["user"]["login"],
                title=one["title"],
                state=one["state"],
                branch=one["head"]["ref"],
                head=one["head"]["sha"],
                url=one["html_url"],
                commits=tuple(
                    commit["commit"]["message"].splitlines()[0]
                    for commit in await self._get(f"pulls/{one['number']}/commits")
                ),
            )
            for one in found
        ]

    async def repository_folder(self) -> Path:
        """Return where the repository's git data is."""
        answer = await self._client.get("/_emulator/")
        answer.raise_for_status()
        return Path(answer.json()["repositories"][story.FULL_NAME])

    async def _make(self, what: str, **wanted: Any) -> Mapping[str, Any]:
        answer = await self._client.post(f"/_emulator/{what}", json=wanted)
        answer.raise_for_status()
        made: Mapping[str, Any] = answer.json()
        return made

    async def _as(self, login: str, path: str, **wanted: Any) -> None:
        url = f"/_emulator/as/{login}/repos/{story.FULL_NAME}/{path}"
        (await self._client.post(url, json=wanted)).raise_for_status()

    async def _get(self, path: str, *, by: str = story.PERSON) -> Any:
        url = f"/_emulator/as/{by}/repos/{story.FULL_NAME}/{path}"
        answer = await self._client.get(url)
        answer.raise_for_status()
        return answer.json()
