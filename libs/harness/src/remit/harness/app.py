"""The composition root: builds an agent from settings and serves it."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
from importlib.resources import files
from typing import cast

from acp import run_agent
from acp.interfaces import Agent

from remit.harness.agent.acp_agent import AcpAgent
from remit.harness.agent.opening import SessionOpener
from remit.harness.clock import SystemClock, random_id, wait_seconds
from remit.harness.log.store import SessionStore
from remit.harness.loop.asking import Retrying
from remit.harness.loop.session import Services
from remit.harness.mcp.servers import McpLimits
from remit.harness.models.port import Model
from remit.harness.models.retry import RetryPolicy
from remit.harness.permission import PRESETS
from remit.harness.settings import Settings
from remit.harness.tools.edit import edit_tool
from remit.harness.tools.environment import command_environment
from remit.harness.tools.read import read_tool
from remit.harness.tools.registry import ToolRegistry
from remit.harness.tools.search import glob_tool, grep_tool
from remit.harness.tools.shell import shell_tool
from remit.harness.tools.write import write_tool

_logger = logging.getLogger(__name__)

_LONGEST_SHELL = 1800.0
_DEFAULT_MAX_TOKENS = 32_000
_LONGEST_SHUTDOWN = 10.0
_LAST_WORDS = 0.05


def build_agent(settings: Settings) -> AcpAgent:
    """Build an agent.

    Raises:
        ModelError: The model's script is none.
    """
    clock = SystemClock()
    services = Services(
        model=_build_model(settings),
        tools=_build_tools(settings),
        clock=clock,
        new_id=random_id,
        system_prompt=_system_prompt(),
    )
    opener = SessionOpener(
        services=services,
        store=SessionStore(settings.home, clock),
        environment=command_environment(os.environ, settings.shell_env),
        rules=PRESETS[settings.permission_mode],
        patience=settings.permission_timeout,
        limits=McpLimits(connect=settings.mcp_connect_timeout, call=settings.mcp_call_timeout),
    )
    retrying = Retrying(
        policy=RetryPolicy(max_retries=settings.max_retries),
        sleep=wait_seconds,
        random=random.random,
    )
    return AcpAgent(opener, retrying=retrying, max_steps=settings.max_steps)


async def serve(settings: Settings) -> None:
    """Serve one client on the standard streams until it goes, or a signal comes.

    On SIGTERM and SIGINT everything is cancelled, put on record and let go of; a second signal ends
    the process at once.
    """
    agent = build_agent(settings)
    loop = asyncio.get_running_loop()
    # The protocol's later methods, close and resume, count as unstable in the library.
    serving = asyncio.create_task(run_agent(cast("Agent", agent), use_unstable_protocol=True))
    stopping = asyncio.Event()

    def stop() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    await _shut_down(agent)
    waiting.cancel()
    serving.cancel()
    await asyncio.wait({serving, waiting})
    if not serving.cancelled():
        serving.result()


async def _shut_down(agent: AcpAgent) -> None:
    try:
        async with asyncio.timeout(_LONGEST_SHUTDOWN):
            await agent.shutdown()
            # The answers to prompts that were cancelled are on their way out.
            await asyncio.sleep(_LAST_WORDS)
    except TimeoutError:
        _logger.warning("not everything had settled after %g s", _LONGEST_SHUTDOWN)


def _build_tools(settings: Settings) -> ToolRegistry:
    registry = ToolRegistry()
    longest = max(settings.shell_timeout, _LONGEST_SHELL)
    for tool in (
        read_tool(),
        write_tool(),
        edit_tool(),
        glob_tool(),
        grep_tool(),
        shell_tool(time_limit=settings.shell_timeout, longest=longest),
    ):
        registry.register(tool)
    return registry


def _build_model(settings: Settings) -> Model:
    """Build the model; each adapter's libraries are imported only where it is used."""
    if settings.model_kind == "scripted":
        from remit.harness.models.scripted import ScriptedModel

        assert settings.script is not None
        return ScriptedModel.from_file(settings.script, new_id=random_id, sleep=wait_seconds)
    import httpx

    from remit.harness.models.http import Limits

    assert settings.base_url is not None
    assert settings.model is not None
    limits = Limits(
        connect=settings.connect_timeout,
        read=settings.read_timeout,
        total=settings.total_timeout,
    )
    client = httpx.AsyncClient()
    if settings.model_kind == "messages":
        from remit.harness.models.messages import MessagesModel

        return MessagesModel(
            client,
            base_url=settings.base_url,
            model=settings.model,
            api_key=settings.api_key,
            max_tokens=settings.max_tokens or _DEFAULT_MAX_TOKENS,
            context_window=settings.context_window,
            limits=limits,
        )
    from remit.harness.models.chat import ChatModel

    return ChatModel(
        client,
        base_url=settings.base_url,
        model=settings.model,
        api_key=settings.api_key,
        max_tokens=settings.max_tokens,
        context_window=settings.context_window,
        limits=limits,
        new_id=random_id,
    )


def _system_prompt() -> str:
    return files("remit.harness").joinpath("prompts/system.md").read_text("utf-8").strip()
