"""A model that plays a file."""

from __future__ import annotations

from remit.harness.models.scripted.errors import ScriptError
from remit.harness.models.scripted.model import ScriptedModel
from remit.harness.models.scripted.script import Script, load_script

__all__ = ["Script", "ScriptError", "ScriptedModel", "load_script"]
