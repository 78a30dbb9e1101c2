"""`remit-agent` with model endpoints that speak over a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import acp
import pytest

from support.acp_client import running_agent
from support.model_wire import sse
from support.sse_server import SseServer, sse_server

PEER = Path(__file__).parents[4] / "shared/tools/fake_messages.py"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("alpha\n")
    return folder


def messages_answer(body: dict[str, Any]) -> bytes:
    """Ask for the file first, then say what was in it."""
    last = body["messages"][-1]["content"][-1]
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 9}}}
    if last["type"] == "tool_result":
        text = f"It says {last['content'][0]['text'].split()[1]}."
        return sse(
            start,
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": text},
            },
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 4},
            },
            {"type": "message_stop"},
        )
    return sse(
        start,
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t1", "name": "read"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"file_path": "a.txt"}'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )


def chat_answer(body: dict[str, Any]) -> bytes:
    last = body["messages"][-1]
    if last["role"] == "tool":
        delta = {"content": f"It says {last['content'].split()[1]}."}
        return sse({"choices": [{"delta": delta, "finish_reason": "stop"}]}, "[DONE]")
    call = {
        "index": 0,
        "id": "t1",
        "function": {"name": "read", "arguments": '{"file_path": "a.txt"}'},
    }
    choice = {"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    return sse({"choices": [choice]}, "[DONE]")


def arguments(kind: str, url: str) -> tuple[str, ...]:
    base = f"{url}/v1" if kind == "chat" else url
    return ("--model-kind", kind, "--base-url", base, "--model", "m-1")


KEY = {"REMIT_AGENT_API_KEY": "s3cret-key"}


@pytest.mark.parametrize(
    ("kind", "answer", "path", "header"),
    [
        ("messages", messages_answer, "/v1/messages", "x-api-key"),
        ("chat", chat_answer, "/v1/chat/completions", "authorization"),
    ],
)
async def test_it_works_with_an_endpoint(
    tmp_path: Path, work: Path, kind: str, answer: Any, path: str, header: str
) -> None:
    async with (
        sse_server(answer) as served,
        running_agent(tmp_path / "home", *arguments(kind, served.url), environment=KEY) as agent,
    ):
        session = await agent.new(work)
        response = await agent.prompt(session, "What does a.txt say?")
        assert response.stop_reason == "end_turn"
        assert agent.client.said(session) == ["It says alpha."]
        log = agent.log()
    assert [request[0] for request in served.requests] == [path, path]
    assert served.requests[0][1][header].endswith("s3cret-key")
    recorded = next((tmp_path / "home").rglob("session.v4.jsonl")).read_text()
    assert "s3cret" not in recorded + log
    assert json.loads(recorded.splitlines()[-1])["data"]["reason"] == {"kind": "completed"}


async def test_a_key_can_come_from_a_file(tmp_path: Path, work: Path) -> None:
    (tmp_path / "key").write_text("s3cret-file\n")
    async with (
        sse_server(messages_answer) as served,
        running_agent(
            tmp_path / "home",
            *arguments("messages", served.url),
            "--api-key-file",
            str(tmp_path / "key"),
        ) as agent,
    ):
        await agent.prompt(await agent.new(work), "What does a.txt say?")
    assert served.requests[0][1]["x-api-key"] == "s3cret-file"


async def test_an_endpoint_that_is_busy_is_asked_again_after_the_time_it_names(
    tmp_path: Path, work: Path
) -> None:
    busy = [(529, b'{"error": {"message": "busy"}}')]

    def answer(body: dict[str, Any]) -> Any:
        return busy.pop() if busy else messages_answer(body)

    async with (
        sse_server(answer) as served,
        running_agent(tmp_path / "home", *arguments("messages", served.url)) as agent,
    ):
        session = await agent.new(work)
        response = await agent.prompt(session, "What does a.txt say?")
    assert response.stop_reason == "end_turn"
    assert len(served.requests) == 3


async def test_an_endpoint_that_refuses_fails_the_prompt_with_its_words(
    tmp_path: Path, work: Path
) -> None:
    def answer(_: dict[str, Any]) -> tuple[int, bytes]:
        return 401, b'{"error": {"message": "this key is not known"}}'

    async with (
        sse_server(answer) as served,
        running_agent(tmp_path / "home", *arguments("chat", served.url)) as agent,
    ):
        session = await agent.new(work)
        with pytest.raises(acp.RequestError, match="401: this key is not known") as refused:
            await agent.prompt(session, "hello")
    assert refused.value.data is not None
    assert refused.value.data["code"] == "AUTH"
    assert len(served.requests) == 1


async def hangs_up(served: SseServer) -> None:
    for _ in range(200):
        if served.left:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the agent kept the connection")


async def test_a_cancel_lets_go_of_the_endpoint_at_once(tmp_path: Path, work: Path) -> None:
    async with (
        sse_server(lambda _: None) as served,
        running_agent(tmp_path / "home", *arguments("messages", served.url)) as agent,
    ):
        session = await agent.new(work)
        prompt = asyncio.create_task(agent.prompt(session, "hello"))
        await agent.client.until(session, "session_info_update")
        await asyncio.sleep(0.2)
        started = time.monotonic()
        await agent.connection.cancel(session_id=session)
        assert (await prompt).stop_reason == "cancelled"
        assert time.monotonic() - started < 1
        await hangs_up(served)


@contextmanager
def reference_peer(folder: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(PEER), str(port)],
        stdout=subprocess.PIPE,
        env={**os.environ, "FAKE_REQLOG": str(folder / "requests.jsonl")},
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(not PEER.exists(), reason="the reference peer is not beside the repository")
async def test_it_works_with_the_reference_peer(tmp_path: Path, work: Path) -> None:
    script = [
        [
            {"thinking": "A file, then."},
            {"text": "I look."},
            {"tool": "read", "args": {"file_path": "a.txt"}},
            {"tool": "glob", "args": {"pattern": "*"}},
        ],
        [{"text": "Done."}],
    ]
    with reference_peer(tmp_path) as url:
        async with running_agent(tmp_path / "home", *arguments("messages", url)) as agent:
            session = await agent.new(work)
            response = await agent.prompt(session, f"SCRIPT:{json.dumps(script)} ENDSCRIPT")
            assert agent.client.said(session) == ["I look.", "Done."]
            assert [status for status, _ in agent.client.results(session)] == ["completed"] * 2
    assert response.stop_reason == "end_turn"
    assert response.usage is not None
    assert response.usage.input_tokens == 200
    last = json.loads((tmp_path / "requests.jsonl").read_text().splitlines()[-1])["body"]
    assert [block["type"] for block in last["messages"][1]["content"]] == [
        *("thinking", "text", "tool_use", "tool_use")
    ]
