"""Language models behind one narrow port.

The adapters are not imported here: each brings libraries that only its own users need.
`messages` and `chat` speak HTTP, `scripted` plays a file.
"""

from __future__ import annotations

from remit.harness.models.port import (
    Finish,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningSignature,
    TextDelta,
    ToolCallDelta,
    ToolSchema,
    UsageReport,
)
from remit.harness.models.retry import RetryPolicy

__all__ = [
    "Finish",
    "Model",
    "ModelError",
    "ModelEvent",
    "ModelRequest",
    "ReasoningDelta",
    "ReasoningSignature",
    "RetryPolicy",
    "TextDelta",
    "ToolCallDelta",
    "ToolSchema",
    "UsageReport",
]
