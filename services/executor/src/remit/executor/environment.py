"""The execution environment: the variables in which Sessions and the prepare command run (ENV-1).

The Executor, the deployment's configuration and Sources register variables; two registrants of one
key are refused with both named. A secret is a variable by reference: its value is read when a
process is started that needs it, and shown nowhere (ENV-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from remit.connectors.secrets import SecretRef

PASSED_ON = (
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "https_proxy",
    "http_proxy",
    "no_proxy",
)
"""What a process that the Executor starts has from the Executor's own environment; nothing else."""


class Reach(StrEnum):
    """Which process a variable reaches."""

    PREPARE = "prepare"
    AGENT = "agent"


EVERYWHERE = frozenset(Reach)


class VariableTaken(Exception):
    """Two registrants want one key (ENV-1).

    Attributes:
        key: The key.
        first: Who has it.
        second: Who wanted it too.
    """

    def __init__(self, key: str, first: str, second: str) -> None:
        super().__init__(
            f"the variable {key} is registered by {first} and again by {second}; "
            "rename or remove one of the two"
        )
        self.key = key
        self.first = first
        self.second = second


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable of the execution environment.

    Attributes:
        key: Its name.
        value: Its value, or where it is.
        description: What it is for, for agents and people.
        registrant: Who registered it.
        reaches: Which processes get it.
    """

    key: str
    value: str | SecretRef
    description: str
    registrant: str
    reaches: frozenset[Reach] = EVERYWHERE

    @property
    def secret(self) -> bool:
        """Whether its value is kept from logs, traces, prompts and people."""
        return isinstance(self.value, SecretRef)

    def read(self) -> str:
        """Return the value.

        Raises:
            SecretUnavailable: It is not where the reference says.
        """
        return self.value.read() if isinstance(self.value, SecretRef) else self.value


class ExecutionEnvironment:
    """A set of variables, each with one registrant.

    Args:
        variables: What is registered.

    Raises:
        VariableTaken: A key has two registrants.
    """

    def __init__(self, variables: Iterable[Variable] = ()) -> None:
        self._variables: dict[str, Variable] = {}
        for variable in variables:
            known = self._variables.setdefault(variable.key, variable)
            if known is not variable:
                raise VariableTaken(variable.key, known.registrant, variable.registrant)

    def __iter__(self) -> Iterator[Variable]:
        """Yield the variables by key."""
        return iter(sorted(self._variables.values(), key=lambda variable: variable.key))

    def joined(self, variables: Iterable[Variable]) -> ExecutionEnvironment:
        """Return this environment with further variables.

        Raises:
            VariableTaken: A key has two registrants.
        """
        return ExecutionEnvironment([*self._variables.values(), *variables])

    def values(self, reach: Reach) -> dict[str, str]:
        """Return what a process of this kind gets.

        Raises:
            SecretUnavailable: A secret that the process needs is not where its reference says.
        """
        return {variable.key: variable.read() for variable in self if reach in variable.reaches}

    def open_values(self, reach: Reach) -> dict[str, str]:
        """Return what a process of this kind may be told in the open: no secret among it."""
        return {variable.key: variable.read() for variable in self.shown(reach)}

    def shown(self, reach: Reach) -> list[Variable]:
        """Return the variables of a process of this kind that are no secrets, by key."""
        return [one for one in self if reach in one.reaches and not one.secret]

    def secrets(self, reach: Reach) -> tuple[str, ...]:
        """Return the values that must not be shown, where a process of this kind may print them.

        Raises:
            SecretUnavailable: A secret is not where its reference says.
        """
        return tuple(
            variable.read() for variable in self if variable.secret and reach in variable.reaches
        )


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what of ``environ`` every new process gets: `PASSED_ON`, no secret and no setting."""
    return chosen(environ, PASSED_ON)


def chosen(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return those of ``names`` that are set in ``environ``."""
    return {name: environ[name] for name in names if name in environ}
