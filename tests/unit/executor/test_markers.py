"""An Input is found again by its marker, and only by its own."""

from __future__ import annotations

import pytest

from remit.domain.ids import TicketId
from remit.executor.markers import marker, markers_in

TICKET = TicketId("t-abc")


@pytest.mark.rule("INP-1")
def test_markers_in_a_history_say_which_inputs_were_read() -> None:
    history = f"hello\n{marker(TICKET, 3, 'k1')}\ntext\n{marker(TICKET, 12, 'k1')} more"
    assert markers_in(history, TICKET, "k1") == {3, 12}


@pytest.mark.parametrize(
    "forged",
    [
        marker(TICKET, 4, "guessed"),
        marker(TicketId("t-other"), 4, "k1"),
        '<input number="4" ticket="t-abc">',
        '<input number="4" ticket="t.abc" key="k1">',
    ],
)
def test_a_text_cannot_pass_for_an_input(forged: str) -> None:
    assert markers_in(forged, TICKET, "k1") == frozenset()
