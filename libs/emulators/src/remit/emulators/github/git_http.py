"""Clone, fetch, and push over smart HTTP, through git's own ``git http-backend``."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from .accounts import HubOf, authenticate, has_role, role_of
from .errors import AuthenticationError
from .hub import Hub
from .pushes import notice_pushes
from .state import Account, Repository

router = APIRouter()

_CHUNK = 65_536


def _ask_for_login(message: str) -> Response:
    challenge = {"WWW-Authenticate": 'Basic realm="GitHub"'}
    return PlainTextResponse(message, status_code=401, headers=challenge)


def _is_push(request: Request, rest: str) -> bool:
    return "git-receive-pack" in {rest, request.query_params.get("service")}


@router.api_route(
    "/{owner}/{name}.git/{rest:path}", methods=["GET", "POST"], include_in_schema=False
)
async def serve_git(request: Request, hub: HubOf, owner: str, name: str, rest: str) -> Response:
    """Serve one step of git's protocol; reading needs read access, pushing needs write access."""
    try:
        known = authenticate(hub, request.headers.get("authorization"))
    except AuthenticationError:
        return _ask_for_login("Invalid username or password.\n")
    caller = None if known is None else known[0]
    repository = hub.find_repository(owner, name)
    role = None if repository is None else role_of(repository, caller)
    if repository is None or role is None:
        if caller is None:
            return _ask_for_login("Repository not found.\n")
        return PlainTextResponse("Repository not found.\n", status_code=404)
    push = _is_push(request, rest)
    if push and caller is None:
        return _ask_for_login("Write access needs a token.\n")
    if push and not has_role(role, "write"):
        whose = "" if caller is None else caller.login
        return PlainTextResponse(
            f"Permission to {hub.full_name(repository)}.git denied to {whose}.\n", status_code=403
        )
    return await _backend(request, hub, repository, caller, rest, push=push)


def _environment(
    request: Request, hub: Hub, repository: Repository, caller: Account | None, rest: str
) -> dict[str, str]:
    environment = hub.git.environment() | {
        "GIT_PROJECT_ROOT": str(hub.git.root.resolve()),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": request.method,
        "PATH_INFO": f"/{hub.full_name(repository)}.git/{rest}",
        "QUERY_STRING": request.url.query,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "REMOTE_ADDR": request.client.host if request.client else "",
    }
    for header in ("content-encoding", "git-protocol"):
        if (value := request.headers.get(header)) is not None:
            environment[f"HTTP_{header.upper().replace('-', '_')}"] = value
    if caller is not None:
        environment["REMOTE_USER"] = caller.login
    # git http-backend takes the protocol version from this name.
    if "HTTP_GIT_PROTOCOL" in environment:
        environment["GIT_PROTOCOL"] = environment["HTTP_GIT_PROTOCOL"]
    return environment


async def _backend(
    request: Request,
    hub: Hub,
    repository: Repository,
    caller: Account | None,
    rest: str,
    *,
    push: bool,
) -> Response:
    process = await asyncio.create_subprocess_exec(
        "git",
        "http-backend",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(request, hub, repository, caller, rest),
    )
    # Whole before the answer starts: git answers little until it has read everything, and the
    # answer's own watch for a lost client would take the request's chunks away.
    await _feed(request, process)
    status, headers = await _read_head(process)

    async def body() -> AsyncIterator[bytes]:
        assert process.stdout is not None
        try:
            while chunk := await process.stdout.read(_CHUNK):
                yield chunk
            await process.wait()
            # Before the answer ends, so that a client that has pushed finds its push told.
            if push and rest == "git-receive-pack":
                await notice_pushes(hub, repository, caller)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    return StreamingResponse(body(), status_code=status, headers=headers)


async def _feed(request: Request, process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    # git may stop reading early, for instance when it refuses a push; it has answered then. The
    # request is read to its end all the same. Some event loops refuse to write to what is closed.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        async for chunk in request.stream():
            if chunk and not process.stdin.is_closing():
                process.stdin.write(chunk)
                await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()


async def _read_head(process: asyncio.subprocess.Process) -> tuple[int, dict[str, str]]:
    assert process.stdout is not None
    status, headers = 200, {}
    while line := (await process.stdout.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        if name.casefold() == "status":
            status = int(value.split()[0])
        else:
            headers[name] = value.strip()
    return (status, headers) if headers or status != 200 else (500, headers)
