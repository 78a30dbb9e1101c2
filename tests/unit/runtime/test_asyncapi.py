"""The published description of the bus."""

from __future__ import annotations

import json
import re
from pathlib import Path

from remit.bus.streams import STREAMS
from remit.runtime.asyncapi import document

PUBLISHED = Path(__file__).parents[3] / "docs" / "asyncapi.json"
RAW = {"INBOX", "DEADLETTER", "CONSOLE"}
"""Streams that hold what others said, as they said it."""


def test_the_published_document_is_what_the_models_say():
    published = json.loads(PUBLISHED.read_text())
    assert published == document(), "run: make asyncapi"


def test_every_stream_of_our_own_messages_is_described():
    described = {
        re.match(r"Stream (\w+)", channel["description"])[1]
        for channel in document()["channels"].values()
    }
    assert described == {stream.name for stream in STREAMS} - RAW


def test_every_reference_leads_somewhere():
    whole = document()
    for ref in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(whole)):
        place = whole
        for step in ref.split("/"):
            place = place[step]
