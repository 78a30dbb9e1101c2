"""The operators' page names every setting, with the default that holds."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from remit.channel.settings import ChannelSettings
from remit.eval.settings import EvalSettings
from remit.executor.settings import ExecutorSettings
from remit.panel.settings import PanelSettings
from remit.runtime.settings import ServiceSettings
from remit.source.settings import SourceSettings
from remit.ticket.settings import TicketSettings

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operators.md"
SECTIONS: dict[str, type[ServiceSettings]] = {
    "Every service": ServiceSettings,
    "source": SourceSettings,
    "ticket": TicketSettings,
    "eval": EvalSettings,
    "executor": ExecutorSettings,
    "channel": ChannelSettings,
    "panel": PanelSettings,
}


def rows(section: str) -> dict[str, str]:
    """Return the variables of a section's table with their defaults."""
    text = PAGE.read_text().split(f"### {section}\n", 1)[1].split("\n### ", 1)[0]
    return {
        name: default.strip().strip("`")
        for name, default in re.findall(r"^\| `(REMIT_[A-Z_]+)` \| ([^|]*)\|", text, re.MULTILINE)
    }


def written(default: object) -> str:
    if isinstance(default, SecretStr):
        return default.get_secret_value()
    if isinstance(default, timedelta):
        whole_days = default.total_seconds() >= timedelta(days=1).total_seconds()
        return f"{default.days}d" if whole_days else f"{default.total_seconds():g}` s"
    return str(default).lower() if isinstance(default, bool) else str(default)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_has_every_setting_and_no_other(section: str) -> None:
    settings = SECTIONS[section]
    shared = set() if settings is ServiceSettings else set(ServiceSettings.model_fields)
    wanted = {f"REMIT_{name.upper()}" for name in settings.model_fields if name not in shared}
    assert set(rows(section)) == wanted


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_says_the_defaults_that_hold(section: str) -> None:
    told = rows(section)
    for name, setting in SECTIONS[section].model_fields.items():
        default = setting.default
        if f"REMIT_{name.upper()}" in told and setting.default_factory is None and default:
            assert told[f"REMIT_{name.upper()}"] == written(default), name
