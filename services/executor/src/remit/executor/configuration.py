"""The Executor document: agents, the prepare command and variables, as a deployment writes them.

One YAML document, all of it optional::

    agent:
      name: remit-agent
      command: [remit-agent]
      pass: [REMIT_AGENT_MODEL]                 # from the executor's own environment
      variables:
        DEEPSEEK_API_KEY: {file: /run/secrets/model-key}
    author: {name: Remit, email: remit@example.com}
    permissions:
      allow: [read, search]                     # what an agent may do beside its own rules
    prepare:
      command: [git, clone, --quiet, $REMIT_REPOSITORY_URL, .]
      limit: 300                                # seconds
      credential: true                          # git may use the code host's credential
    variables:
      - {key: NODE_ENV, value: test, description: Which settings the tests use.}
      - key: NPM_TOKEN
        secret: {file: /run/secrets/npm}
        description: Reads private packages.
        reaches: [prepare]
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from remit.connectors.secrets import SecretRef
from remit.executor.environment import EVERYWHERE, ExecutionEnvironment, Reach, Variable

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ExecutorFileInvalid(Exception):
    """The Executor document cannot be used.

    Attributes:
        path: The file.
        place: Where in it, as a dotted path or a line; empty where the whole of it is meant.
        problem: What is wrong, and what to write instead.
    """

    def __init__(self, path: Path, place: str, problem: str) -> None:
        super().__init__(f"{path}: {place}: {problem}" if place else f"{path}: {problem}")
        self.path = path
        self.place = place
        self.problem = problem


def command_line(line: str | None) -> tuple[str, ...]:
    """Return the words of a command line, as a shell would split it; none of an empty one."""
    return tuple(shlex.split(line or ""))


def _words(command: object) -> object:
    return command_line(command) if isinstance(command, str) else command


Command = Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)]
"""A program and its arguments: a list, or one line split as a shell would split it."""


class Part(BaseModel):
    """A part of the document: closed, so that a misspelt setting is refused and not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class AgentPart(Part):
    """How the agent is started: a command that speaks the Agent Client Protocol on its pipes.

    Attributes:
        name: What it is called in logs and in the panel.
        command: The command; ``remit-agent`` is looked for beside this Python first.
        passed: Variables of the executor's own environment that it gets too, by name.
        variables: Variables of its own; secrets by reference.
    """

    name: str = "remit-agent"
    command: Command = ("remit-agent",)
    passed: tuple[str, ...] = Field(default=(), alias="pass")
    variables: dict[str, str | SecretRef] = {}


class PermissionsPart(Part):
    """How an agent's permission requests are answered.

    Attributes:
        allow: Kinds of tool calls that are allowed once each time, in ACP's words (``read``,
            ``edit``, ``delete``, ``move``, ``search``, ``execute``, ``fetch``, ...). Anything else
            is rejected.
    """

    allow: frozenset[str] = frozenset()


class PreparePart(Part):
    """How a Ticket's directory is made.

    Attributes:
        command: What is run in the new, empty directory; None makes an empty git repository.
            ``$NAME`` in its words is replaced by the variable's value.
        limit: How long it may take, in seconds.
        tries: How often it is tried before the Ticket is told that it failed.
        credential: git in it may use the code host's short-lived credential, for the Ticket's
            repository alone.
    """

    command: Command | None = None
    limit: float = Field(default=300, gt=0)
    tries: int = Field(default=3, ge=1)
    credential: bool = False


class VariablePart(Part):
    """One variable of the execution environment.

    Attributes:
        key: Its name.
        value: Its value.
        secret: Or where its value is.
        description: What it is for.
        reaches: Which processes get it: ``prepare``, ``agent`` or both. A secret reaches the
            prepare command alone, unless the document says otherwise.
    """

    key: str
    value: str | None = None
    secret: SecretRef | None = None
    description: str
    reaches: frozenset[Reach] | None = None

    @field_validator("key")
    @classmethod
    def _is_a_name(cls, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise ValueError("is no name of a variable: letters, digits and underscores")
        return key

    @model_validator(mode="after")
    def _value_or_secret(self) -> VariablePart:
        if (self.value is None) == (self.secret is None):
            raise ValueError("write either 'value' or 'secret'")
        return self

    def variable(self, registrant: str) -> Variable:
        """Return the variable that this describes."""
        reaches = self.reaches
        if reaches is None:
            reaches = frozenset({Reach.PREPARE}) if self.secret else EVERYWHERE
        return Variable(
            key=self.key,
            value=self.secret or self.value or "",
            description=self.description,
            registrant=registrant,
            reaches=reaches,
        )


class AuthorPart(Part):
    """Whom commits name.

    Attributes:
        name: A name.
        email: An address.
    """

    name: str = "Remit"
    email: str = "remit@localhost"


class ExecutorDocument(Part):
    """The whole document.

    Attributes:
        agent: The agent that does the work.
        author: Whom its commits name.
        permissions: How its permission requests are answered.
        prepare: How a Ticket's directory is made.
        variables: What the deployment adds to the execution environment.
    """

    agent: AgentPart = AgentPart()
    author: AuthorPart = AuthorPart()
    permissions: PermissionsPart = PermissionsPart()
    prepare: PreparePart = PreparePart()
    variables: tuple[VariablePart, ...] = ()

    def environment(self, registrant: str) -> ExecutionEnvironment:
        """Return the variables that the document registers.

        Raises:
            VariableTaken: It has one key twice.
        """
        return ExecutionEnvironment(part.variable(registrant) for part in self.variables)


def read_executor_file(path: Path | None) -> ExecutorDocument:
    """Return the document at ``path``; without one, everything is at its default.

    Raises:
        ExecutorFileInvalid: It cannot be read, or is not an Executor document.
    """
    if path is None:
        return ExecutorDocument()
    try:
        content: Any = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ExecutorFileInvalid(path, "", f"cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ExecutorFileInvalid(path, line, f"is not YAML: {error.problem}") from error
    try:
        return ExecutorDocument.model_validate({} if content is None else content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ExecutorFileInvalid(path, place, first["msg"]) from error
