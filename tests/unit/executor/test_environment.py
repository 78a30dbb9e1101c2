"""The execution environment: one registrant for each key, and secrets by reference only."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.bus.clock import SystemClock
from remit.connectors.contract import GitRemote
from remit.connectors.secrets import SecretRef
from remit.domain.channel import Address
from remit.domain.inputs import Input, InputKind
from remit.executor.app import agent_command, prepare_part, registered
from remit.executor.configuration import (
    ExecutorDocument,
    ExecutorFileInvalid,
    PreparePart,
    read_executor_file,
)
from remit.executor.directory import PreparationFailed, TicketDirectory
from remit.executor.environment import (
    ExecutionEnvironment,
    Reach,
    Variable,
    VariableTaken,
    chosen,
    inherited,
)
from remit.executor.hearing import Arrived
from remit.executor.preparation import Preparation, reserved, without_credential
from remit.executor.settings import ExecutorSettings
from support.domain import NOW, opened_ticket, trigger


def variable(key: str, value: str | SecretRef = "v", registrant: str = "someone") -> Variable:
    return Variable(key=key, value=value, description="d", registrant=registrant)


def write(folder: Path, text: str) -> Path:
    path = folder / "executor.yaml"
    path.write_text(text)
    return path


# -- registrants ----------------------------------------------------------------------------


@pytest.mark.rule("ENV-1")
def test_two_registrants_of_one_key_are_refused_with_both_named() -> None:
    with pytest.raises(VariableTaken) as taken:
        ExecutionEnvironment([variable("A", registrant="one")]).joined(
            [variable("A", registrant="other")]
        )
    assert (taken.value.first, taken.value.second) == ("one", "other")
    assert "registered by one and again by other" in str(taken.value)


@pytest.mark.rule("ENV-1")
@pytest.mark.parametrize("key", ["REMIT_TICKET_ID", "REMIT_BRANCH", "GIT_AUTHOR_NAME"])
def test_a_document_cannot_register_what_the_executor_registers(key: str) -> None:
    document = ExecutorDocument.model_validate(
        {"variables": [{"key": key, "value": "x", "description": "d"}]}
    )
    with pytest.raises(VariableTaken, match=f"{key} is registered by"):
        registered(document, ExecutorSettings())


@pytest.mark.rule("ENV-2")
def test_a_secret_reaches_the_prepare_command_alone_unless_said_otherwise(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    document = ExecutorDocument.model_validate(
        {
            "variables": [
                {"key": "TOKEN", "secret": {"file": str(secret)}, "description": "d"},
                {"key": "NODE_ENV", "value": "test", "description": "d"},
            ]
        }
    )
    environment = document.environment("a file")
    assert environment.values(Reach.PREPARE) == {"TOKEN": "s3cret", "NODE_ENV": "test"}
    assert environment.values(Reach.AGENT) == {"NODE_ENV": "test"}
    assert environment.secrets(Reach.PREPARE) == ("s3cret",)
    assert "s3cret" not in repr(list(environment))


@pytest.mark.rule("ENV-2")
def test_a_secret_that_reaches_an_agent_is_in_no_prompt() -> None:
    reference = SecretRef(env="NOT_SET_ANYWHERE")
    environment = ExecutionEnvironment([variable("A"), variable("TOKEN", reference)])
    assert environment.open_values(Reach.AGENT) == {"A": "v"}
    assert [one.key for one in environment.shown(Reach.AGENT)] == ["A"]


# -- the agent's environment ----------------------------------------------------------------


@pytest.mark.rule("ENV-2")
def test_an_agent_gets_what_is_named_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text("model-key")
    for name in ("REMIT_NATS_URL", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "REMIT_AGENT_MODEL"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HOME", "/home/operator")
    document = ExecutorDocument.model_validate(
        {
            "agent": {
                "pass": ["REMIT_AGENT_MODEL", "NOT_SET"],
                "variables": {"MODEL_KEY": {"file": str(key)}, "MODE": "safe"},
            }
        }
    )
    settings = ExecutorSettings(work_root=tmp_path, agent_pass="GITHUB_TOKEN")
    command = agent_command(document, registered(document, settings), settings)
    assert command.environment["REMIT_AGENT_MODEL"] == "x"
    assert command.environment["MODEL_KEY"] == "model-key"
    assert command.environment["MODE"] == "safe"
    assert command.environment["GITHUB_TOKEN"] == "x", "because the deployment named it"
    assert command.environment["HOME"] == str(tmp_path / ".agents" / "remit-agent")
    assert command.environment["GIT_AUTHOR_NAME"] == "Remit"
    assert not {"REMIT_NATS_URL", "AWS_SECRET_ACCESS_KEY"} & set(command.environment)
    assert "model-key" in command.secrets
    assert "model-key" not in repr(command)


def test_only_what_every_process_needs_is_inherited() -> None:
    environ = {
        "PATH": "/bin",
        "LANG": "C",
        "REMIT_REDIS_URL": "redis://:pw@x",
        "SSH_AUTH_SOCK": "s",
    }
    assert inherited(environ) == {"PATH": "/bin", "LANG": "C"}
    assert chosen(environ, ["SSH_AUTH_SOCK", "GONE"]) == {"SSH_AUTH_SOCK": "s"}


def test_settings_take_the_place_of_the_documents_commands(tmp_path: Path) -> None:
    document = ExecutorDocument.model_validate({"prepare": {"command": ["a"], "tries": 7}})
    settings = ExecutorSettings(
        work_root=tmp_path, agent_command="dsh --profile acp", prepare_command="git init '$X Y'"
    )
    part = prepare_part(document, settings)
    assert (part.command, part.tries) == (("git", "init", "$X Y"), 7)
    environment = registered(document, settings)
    assert agent_command(document, environment, settings).command == ("dsh", "--profile", "acp")
    assert prepare_part(document, ExecutorSettings()).command == ("a",)


# -- the document ---------------------------------------------------------------------------


def test_a_document_that_says_nothing_leaves_everything_at_its_default(tmp_path: Path) -> None:
    assert read_executor_file(write(tmp_path, "# nothing yet\n")) == ExecutorDocument()
    assert read_executor_file(None).agent.command == ("remit-agent",)


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("agent: {comand: [x]}", "agent.comand", "Extra inputs"),
        ("agent: {command: []}", "agent.command", "at least 1 item"),
        ("prepare: {limit: soon}", "prepare.limit", "valid number"),
        ("variables: [{key: 1X, value: v, description: d}]", "variables.0.key", "no name"),
        ("variables: [{key: X, description: d}]", "variables.0", "'value' or 'secret'"),
        (
            "variables: [{key: X, secret: plain-text, description: d}]",
            "variables.0.secret",
            "valid dictionary",
        ),
        ("agent: [", "line 1", "is not YAML"),
        ("- agent", "", "valid dictionary"),
    ],
)
def test_a_broken_document_is_refused_with_its_place(
    tmp_path: Path, text: str, place: str, problem: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ExecutorFileInvalid) as refused:
        read_executor_file(path)
    assert refused.value.path == path
    assert refused.value.place == place
    assert problem in refused.value.problem


def test_a_document_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExecutorFileInvalid, match="cannot be read"):
        read_executor_file(tmp_path / "none.yaml")


# -- a Ticket's variables -------------------------------------------------------------------


class Repository:
    """A code host with one repository."""

    async def remote(self, address: Address) -> GitRemote | None:
        return GitRemote(
            url="https://user@code.example/acme/website.git", username="u", password="pw"
        )


async def test_a_ticket_has_variables_of_its_own(tmp_path: Path) -> None:
    request = trigger(1, text="fix it")
    ticket = opened_ticket(request)
    arrived = Arrived(
        input=Input(ticket=ticket.id, number=1, kind=InputKind.TRIGGER, trigger=request, at=NOW),
        trace=None,
    )
    environment = ExecutionEnvironment([variable("NODE_ENV", "test")])
    command = ("sh", "-c", 'env > seen; test -z "$GIT_CONFIG_COUNT"')
    preparation = Preparation(
        PreparePart(command=command), environment, Repository(), SystemClock()
    )
    directory = TicketDirectory(tmp_path, ticket.id)
    prepared = await preparation.prepare(directory, ticket, arrived, None)
    seen = dict(line.split("=", 1) for line in (directory.work / "seen").read_text().splitlines())
    expected = {
        "REMIT_TICKET_ID": str(ticket.id),
        "REMIT_TICKET_TITLE": "Fix the typo",
        "REMIT_SOURCE": "github",
        "REMIT_SCOPE_NAME": "acme/website",
        "REMIT_BRANCH": f"remit/{ticket.id}",
        "REMIT_REPOSITORY_URL": "https://code.example/acme/website.git",
    }
    assert {key: seen[key] for key in expected} == expected
    assert seen["NODE_ENV"] == "test"
    assert prepared.variables == expected
    assert "pw" not in (directory.work / "seen").read_text()
    told = preparation.environment(prepared).open_values(Reach.AGENT)
    assert told == {**expected, "NODE_ENV": "test"}
    assert await preparation.prepare(directory, ticket, None, None) == prepared


async def test_the_prepare_command_gets_the_credential_only_where_the_document_says_so(
    tmp_path: Path,
) -> None:
    ticket = opened_ticket()
    command = ("sh", "-c", 'echo "$REMIT_GIT_PASSWORD"; exit 1')
    preparation = Preparation(
        PreparePart(command=command, credential=True),
        ExecutionEnvironment(),
        Repository(),
        SystemClock(),
    )
    with pytest.raises(PreparationFailed) as failed:
        await preparation.prepare(TicketDirectory(tmp_path, ticket.id), ticket, None, None)
    assert failed.value.output == "***"


async def test_a_secret_that_is_missing_is_a_failed_preparation(tmp_path: Path) -> None:
    reference = SecretRef(file=tmp_path / "gone")
    environment = ExecutionEnvironment([variable("TOKEN", reference)])
    ticket = opened_ticket()
    preparation = Preparation(PreparePart(), environment, Repository(), SystemClock())
    with pytest.raises(PreparationFailed, match="gone is not there"):
        await preparation.prepare(TicketDirectory(tmp_path, ticket.id), ticket, None, None)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@host:8443/a.git", "https://host:8443/a.git"),
        ("https://host/a.git", "https://host/a.git"),
        ("/srv/git/a.git", "/srv/git/a.git"),
        ("git@host:a.git", "git@host:a.git"),
    ],
)
def test_a_repositorys_url_is_shown_without_a_credential(url: str, shown: str) -> None:
    assert without_credential(url) == shown


def test_every_variable_of_a_ticket_is_reserved_from_the_start() -> None:
    assert len(reserved()) == 6
