"""How every connector reads the settings of an instance, and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from remit.connectors.contract import ConfigurationInvalid
from remit.domain.ids import SourceName


class InstanceSettings(BaseModel):
    """The settings of one instance: frozen, and nothing that the kind does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


S = TypeVar("S", bound=InstanceSettings)


def read_settings(model: type[S], source: SourceName, settings: Mapping[str, Any]) -> S:
    """Return ``settings`` as ``model``.

    Raises:
        ConfigurationInvalid: One of them will not do; the first is named.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        place = dotted(first["loc"]) or "settings"
        raise ConfigurationInvalid(source, place, _problem(first, model)) from error


def dotted(location: Sequence[str | int]) -> str:
    """Return where pydantic found something as a dotted path."""
    return ".".join(str(part) for part in location)


def _problem(error: ErrorDetails, model: type[BaseModel]) -> str:
    match error["type"]:
        case "missing":
            return "is needed and is not there"
        case "extra_forbidden" if len(error["loc"]) == 1:
            return f"is no setting; known are {', '.join(sorted(model.model_fields))}"
        case "extra_forbidden":
            return "is not known here; take it out"
        case "value_error":
            return str(error["ctx"]["error"])
        case _:
            return error["msg"]
