"""What `remit-agent` can be told, on its command line or by its environment.

The command line wins over the environment. The model's key comes from the environment or a file
only, because a command line is readable to everybody on the machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from remit.harness.errors import HarnessError
from remit.harness.version import VERSION

PREFIX = "REMIT_AGENT_"
"""What the names of all variables begin with."""

API_KEY = f"{PREFIX}API_KEY"
"""The variable that holds the model's key."""

ModelKind = Literal["scripted", "messages", "chat"]
"""The kinds of model there are."""

_PRESETS = ("read-only", "workspace-write", "danger-full-access")
_LOG_LEVELS = ("debug", "info", "warning", "error")


class SettingsError(HarnessError):
    """The settings do not make sense; the text names the setting and the remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How one `remit-agent` process works. Times are in seconds.

    Attributes:
        home: Where sessions are kept.
        model_kind: What kind of model is asked.
        script: The file a scripted model plays.
        base_url: Where the model's interface is.
        model: The model's name there.
        api_key: The key for it.
        max_tokens: How many tokens an answer may hold.
        context_window: How many tokens a request may hold, where that is known.
        connect_timeout: Until a connection to the model stands.
        read_timeout: Between two pieces of an answer.
        total_timeout: For a whole answer.
        max_retries: How often a failed model call is tried again.
        permission_mode: The permission preset of new sessions.
        permission_timeout: How long a person is waited for; then the answer is no.
        max_steps: How many steps one prompt may take.
        shell_timeout: How long a command may take that does not say.
        shell_env: Further variables that reach the commands an agent runs.
        mcp_connect_timeout: Until an MCP server is ready.
        mcp_call_timeout: For one MCP tool call.
        log_level: How much is written to the errors' stream.
    """

    home: Path
    model_kind: ModelKind
    script: Path | None
    base_url: str | None
    model: str | None
    api_key: str | None = field(repr=False)
    max_tokens: int | None
    context_window: int | None
    connect_timeout: float
    read_timeout: float
    total_timeout: float
    max_retries: int
    permission_mode: str
    permission_timeout: float
    max_steps: int
    shell_timeout: float
    shell_env: tuple[str, ...]
    mcp_connect_timeout: float
    mcp_call_timeout: float
    log_level: str


def load_settings(
    arguments: Sequence[str], environment: Mapping[str, str], api_key: str | None
) -> Settings:
    """Read the settings.

    Args:
        arguments: The command line without the program's name.
        environment: All variables.
        api_key: The model's key, where the environment had it.

    Raises:
        SettingsError: They do not make sense.
        SystemExit: They ask for help or the version, or argparse refuses them.
    """
    given = _parser(environment).parse_args(arguments)
    kind = _choice("model-kind", given.model_kind, get_args(ModelKind))
    settings = Settings(
        home=_path(given.home) or _default_home(environment),
        model_kind=cast("ModelKind", kind),
        script=_path(given.script),
        base_url=given.base_url,
        model=given.model,
        api_key=api_key or _key_from_file(given.api_key_file),
        max_tokens=_whole("max-tokens", given.max_tokens),
        context_window=_whole("context-window", given.context_window),
        connect_timeout=_seconds("connect-timeout", given.connect_timeout),
        read_timeout=_seconds("read-timeout", given.read_timeout),
        total_timeout=_seconds("total-timeout", given.total_timeout),
        max_retries=_count("max-retries", given.max_retries),
        permission_mode=_choice("permission-mode", given.permission_mode, _PRESETS),
        permission_timeout=_seconds("permission-timeout", given.permission_timeout),
        max_steps=_whole("max-steps", given.max_steps) or 1,
        shell_timeout=_seconds("shell-timeout", given.shell_timeout),
        shell_env=_names(given.shell_env, environment),
        mcp_connect_timeout=_seconds("mcp-connect-timeout", given.mcp_connect_timeout),
        mcp_call_timeout=_seconds("mcp-call-timeout", given.mcp_call_timeout),
        log_level=_choice("log-level", given.log_level, _LOG_LEVELS),
    )
    _check_model(settings)
    return settings


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="remit-agent",
        description="A coding agent that speaks the Agent Client Protocol on its input and output.",
        epilog=(
            f"Every option can be set by a variable too: --model-kind is {PREFIX}MODEL_KIND. "
            f"The model's key is read from {API_KEY} or from --api-key-file."
        ),
    )
    parser.add_argument("--version", action="version", version=f"remit-agent {VERSION}")

    def option(name: str, text: str, default: str | None = None) -> None:
        variable = PREFIX + name.upper().replace("-", "_")
        shown = f" [{default}]" if default else ""
        parser.add_argument(
            f"--{name}",
            metavar="VALUE",
            default=environment.get(variable) or default,
            help=text + shown,
        )

    option("home", "directory that keeps the sessions")
    option("model-kind", "scripted, messages or chat", "messages")
    option("script", "file that a scripted model plays")
    option("base-url", "where the model's interface is")
    option("model", "the model's name")
    option("api-key-file", "file that holds the model's key")
    option("max-tokens", "tokens an answer may hold")
    option("context-window", "tokens a request may hold")
    option("connect-timeout", "seconds until a connection to the model stands", "10")
    option("read-timeout", "seconds between two pieces of an answer", "120")
    option("total-timeout", "seconds for a whole answer", "900")
    option("max-retries", "how often a failed model call is tried again", "4")
    option("permission-mode", ", ".join(_PRESETS), "workspace-write")
    option("permission-timeout", "seconds to wait for a person's word", "86400")
    option("max-steps", "steps that one prompt may take", "100")
    option("shell-timeout", "seconds for a command that does not say", "120")
    option("mcp-connect-timeout", "seconds until an MCP server is ready", "30")
    option("mcp-call-timeout", "seconds for one MCP tool call", "600")
    option("log-level", ", ".join(_LOG_LEVELS), "info")
    parser.add_argument(
        "--shell-env",
        metavar="NAME",
        action="append",
        default=[],
        help=f"variable that commands get; may stand several times; {PREFIX}SHELL_ENV is a list",
    )
    return parser


def _check_model(settings: Settings) -> None:
    needed = ("script",) if settings.model_kind == "scripted" else ("base_url", "model")
    for name in needed:
        if not getattr(settings, name):
            option = name.replace("_", "-")
            raise SettingsError(
                f"--model-kind {settings.model_kind} needs --{option} (or {PREFIX}{name.upper()})"
            )


def _default_home(environment: Mapping[str, str]) -> Path:
    state = environment.get("XDG_STATE_HOME")
    return Path(state) / "remit-agent" if state else Path.home() / ".local/state/remit-agent"


def _path(value: str | None) -> Path | None:
    return Path(value).expanduser().absolute() if value else None


def _key_from_file(value: str | None) -> str | None:
    if not value:
        return None
    try:
        key = Path(value).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--api-key-file {value} cannot be read: {error}") from None
    if not key:
        raise SettingsError(f"--api-key-file {value} is empty")
    return key


def _names(given: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    listed = environment.get(f"{PREFIX}SHELL_ENV", "").replace(",", " ").split()
    names = tuple(dict.fromkeys([*listed, *given]))
    for name in names:
        if name == API_KEY:
            raise SettingsError(f"--shell-env {name}: the model's key never reaches a command")
    return names


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise SettingsError(f"--{name} {value}: it must be one of {', '.join(choices)}")
    return value


def _number(name: str, value: str, parse: Callable[[str], float], least: float) -> float:
    try:
        number = parse(value)
    except ValueError:
        raise SettingsError(f"--{name} {value}: it must be a number") from None
    if not least <= number < float("inf"):
        raise SettingsError(f"--{name} {value}: it must be {least:g} or more")
    return number


def _seconds(name: str, value: str) -> float:
    return _number(name, value, float, 0.001)


def _count(name: str, value: str) -> int:
    return int(_number(name, value, int, 0))


def _whole(name: str, value: str | None) -> int | None:
    return None if value is None else int(_number(name, value, int, 1))
