"""One family of events: what is read of it, and what each of its actions becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from remit.connectors.contract import DeliveryMalformed, Normalised
from remit.connectors.github.events.payloads import Event
from remit.connectors.github.events.reading import Reading
from remit.connectors.settings import dotted
from remit.domain.ids import SourceName

E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class Family(Generic[E]):
    """The events of one of GitHub's names.

    Attributes:
        model: What is read of them.
        actions: What is done for each action that becomes a Trigger; others become none.
    """

    model: type[E]
    actions: Mapping[str, Callable[[Reading, E], Normalised]]

    def read(self, source: SourceName, document: Mapping[str, Any]) -> E:
        """Return what is read of a payload.

        Raises:
            DeliveryMalformed: Something that is needed is not there.
        """
        try:
            return self.model.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            raise DeliveryMalformed(source, dotted(first["loc"]), first["msg"]) from error
