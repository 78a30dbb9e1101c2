"""The Sources of a deployment: which instances there are, of which kinds.

One YAML document, shared by the services that read from and write to providers::

    sources:
      github:
        kind: github
        repositories: [acme/website]
        token: {file: /run/secrets/github-token}
        webhook_secret: {env: GITHUB_WEBHOOK_SECRET}
      console:
        kind: console
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import yaml

from remit.connectors.contract import ENTRY_POINTS, ConfigurationInvalid, Connector, Instance
from remit.domain.ids import SourceName


class SourcesFileInvalid(Exception):
    """The Sources document cannot be used.

    Attributes:
        path: The file.
        line: The line, counted from 1; 0 where the whole of it is meant.
        problem: What is wrong, and what to write instead.
    """

    def __init__(self, path: Path, line: int, problem: str) -> None:
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem


def read_sources(path: Path) -> dict[SourceName, Mapping[str, Any]]:
    """Return the settings of each instance in the document at ``path``.

    Raises:
        SourcesFileInvalid: It cannot be read, or is not a Sources document.
    """
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise SourcesFileInvalid(path, 0, f"cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise SourcesFileInvalid(path, line, f"is not YAML: {error.problem}") from error
    sources = document.get("sources") if isinstance(document, dict) else None
    if not isinstance(sources, dict):
        raise SourcesFileInvalid(path, 0, "needs a mapping 'sources' of names to settings")
    for name, settings in sources.items():
        if not isinstance(settings, dict) or not isinstance(settings.get("kind"), str):
            raise SourcesFileInvalid(path, 0, f"sources.{name} needs a 'kind'")
    return {SourceName(str(name)): settings for name, settings in sources.items()}


def connectors() -> dict[str, Connector]:
    """Return every installed kind by name."""
    found: list[Connector] = [point.load()() for point in entry_points(group=ENTRY_POINTS)]
    return {connector.kind: connector for connector in found}


async def configure(
    sources: Mapping[SourceName, Mapping[str, Any]], kinds: Mapping[str, Connector]
) -> dict[SourceName, Instance]:
    """Return every instance, ready to work.

    Raises:
        ConfigurationInvalid: A kind is unknown, or a setting will not do.
        ProviderUnavailable: An identity could not be resolved now.
    """
    instances: dict[SourceName, Instance] = {}
    for name, settings in sources.items():
        kind = str(settings["kind"])
        connector = kinds.get(kind)
        if connector is None:
            known = ", ".join(sorted(kinds))
            raise ConfigurationInvalid(name, "kind", f"{kind!r} is no kind; known are {known}")
        rest = {key: value for key, value in settings.items() if key != "kind"}
        instances[name] = await connector.configure(name, rest)
    return instances
