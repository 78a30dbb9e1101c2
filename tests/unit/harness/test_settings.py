from __future__ import annotations

import os
from pathlib import Path

import pytest

from remit.harness.secret import take_key
from remit.harness.settings import Settings, SettingsError, load_settings

CHAT = ["--model-kind", "chat", "--base-url", "http://x/v1", "--model", "m"]


def load(*arguments: str, key: str | None = None, **environment: str) -> Settings:
    return load_settings(arguments, environment, key)


def test_the_command_line_wins_over_the_environment_and_that_over_what_is_usual() -> None:
    settings = load(
        *CHAT,
        "--max-steps",
        "7",
        REMIT_AGENT_MAX_STEPS="9",
        REMIT_AGENT_MODEL="another",
        REMIT_AGENT_MAX_RETRIES="0",
    )
    assert (settings.max_steps, settings.model, settings.max_retries) == (7, "m", 0)
    assert settings.permission_mode == "workspace-write"


def test_everything_can_come_from_the_environment() -> None:
    settings = load(
        REMIT_AGENT_MODEL_KIND="scripted",
        REMIT_AGENT_SCRIPT="/s.yaml",
        REMIT_AGENT_HOME="/h",
        REMIT_AGENT_PERMISSION_MODE="read-only",
        REMIT_AGENT_SHELL_ENV="A, B C",
        REMIT_AGENT_TOTAL_TIMEOUT="1.5",
    )
    assert settings.model_kind == "scripted"
    assert (settings.script, settings.home) == (Path("/s.yaml"), Path("/h"))
    assert settings.permission_mode == "read-only"
    assert settings.shell_env == ("A", "B", "C")
    assert settings.total_timeout == 1.5


def test_the_home_has_its_usual_place() -> None:
    assert load(*CHAT, XDG_STATE_HOME="/state").home == Path("/state/remit-agent")
    assert load(*CHAT).home == Path.home() / ".local/state/remit-agent"


WRONG = [
    ([], "--model-kind messages needs --base-url"),
    (["--base-url", "http://x"], "--model-kind messages needs --model"),
    (["--model-kind", "scripted"], r"needs --script \(or REMIT_AGENT_SCRIPT\)"),
    (["--model-kind", "magic"], "must be one of scripted, messages, chat"),
    ([*CHAT, "--permission-mode", "all"], "must be one of read-only"),
    ([*CHAT, "--max-steps", "0"], "--max-steps 0: it must be 1 or more"),
    ([*CHAT, "--max-retries", "-1"], "must be 0 or more"),
    ([*CHAT, "--max-tokens", "many"], "--max-tokens many: it must be a number"),
    ([*CHAT, "--read-timeout", "inf"], "must be"),
    ([*CHAT, "--read-timeout", "nan"], "must be"),
    ([*CHAT, "--log-level", "loud"], "must be one of debug"),
    ([*CHAT, "--api-key-file", "/nowhere/key"], "/nowhere/key cannot be read"),
    ([*CHAT, "--shell-env", "REMIT_AGENT_API_KEY"], "never reaches a command"),
]


@pytest.mark.parametrize(("arguments", "problem"), WRONG)
def test_a_setting_that_makes_no_sense_is_named_with_its_remedy(
    arguments: list[str], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        load(*arguments)


def test_a_key_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from-file\n")
    assert load(*CHAT, "--api-key-file", str(file)).api_key == "from-file"
    assert load(*CHAT, key="from-environment").api_key == "from-environment"
    file.write_text("\n")
    with pytest.raises(SettingsError, match="is empty"):
        load(*CHAT, "--api-key-file", str(file))


@pytest.mark.rule("ENV-2")
def test_a_key_does_not_show() -> None:
    assert "s3cret" not in repr(load(*CHAT, key="s3cret"))


@pytest.mark.rule("ENV-2")
def test_a_key_that_was_handed_over_is_read_once_and_forgotten() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"s3cret")
    os.close(write_end)
    environment = {"REMIT_AGENT_API_KEY_FD": str(read_end), "A": "b"}
    assert take_key(environment) == "s3cret"
    assert environment == {"A": "b"}
    assert take_key(environment) is None


def test_a_key_that_is_too_long_to_be_one_is_refused() -> None:
    with pytest.raises(SettingsError, match="which is no key"):
        take_key({"REMIT_AGENT_API_KEY": "x" * 5000})
