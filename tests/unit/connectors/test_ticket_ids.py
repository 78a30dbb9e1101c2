"""Which Tickets a message names."""

from __future__ import annotations

import pytest

from remit.connectors.ticket_ids import ticket_ids_in
from remit.domain.ids import TriggerId, ticket_id_for, write_id_for

TICKET = ticket_id_for(TriggerId("hub:issue_comment/1"))
OTHER = ticket_id_for(TriggerId("hub:issue_comment/2"))


@pytest.mark.rule("SUB-7")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (TICKET, (TICKET,)),
        (f"Like {OTHER}, and {TICKET}; not {OTHER} again.", (OTHER, TICKET)),
        (f"https://panel.example/tickets/{TICKET}?tab=1", (TICKET,)),
        (f"看看{TICKET}吧", (TICKET,)),
        (write_id_for(TICKET, 1), ()),
        (f"x{TICKET}", ()),
        (f"{TICKET}a", ()),
        (TICKET.upper(), ()),
    ],
)
def test_a_ticket_is_named_by_its_whole_id(text: str, expected: tuple[str, ...]) -> None:
    assert ticket_ids_in(text) == expected
