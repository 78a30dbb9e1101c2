"""What the eval service can be told from outside."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from remit.runtime.settings import ServiceSettings


class EvalSettings(ServiceSettings):
    """Settings of the eval service.

    Attributes:
        assessor: Who judges what the gate admits. ``rules`` is deterministic and needs no model.
        eval_limit_seconds: How long an assessment may take (EVL-5).
        concurrency: How many Evals run together.
    """

    assessor: Literal["rules"] = "rules"
    eval_limit_seconds: float = Field(default=60.0, gt=0)
    concurrency: int = Field(default=64, ge=1)
