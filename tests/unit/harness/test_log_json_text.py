from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.log.json_text import decode, encode

WRITTEN = [
    ({"b": 1, "a": [True, None, "x"]}, '{"b":1,"a":[true,null,"x"]}'),
    ("é 你 😀 \u2028", '"é 你 😀 \u2028"'),
    ('"\\/\b\f\n\r\t', '"\\"\\\\/\\b\\f\\n\\r\\t"'),
    ("\x00\x1f\x7f", '"\\u0000\\u001f\x7f"'),
    ("\ud83d alone \udfff", '"\\ud83d alone \\udfff"'),
    (4155.15506767728, "4155.15506767728"),
]


@pytest.mark.rule("LOG-2")
@pytest.mark.parametrize(("value", "text"), WRITTEN)
def test_json_is_written_as_the_formats_other_writers_do(value: Any, text: str) -> None:
    assert encode(value) == text
    text.encode("utf-8")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(values)
def test_whatever_is_written_reads_back_and_fits_on_one_line(value: Any) -> None:
    text = encode(value)
    assert decode(text) == value
    assert "\n" not in text
    text.encode("utf-8")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "{", "", "[" * 200_000])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode(text)


def test_a_number_that_json_cannot_express_is_refused() -> None:
    with pytest.raises(ValueError, match=r"JSON"):
        encode(json.loads("NaN"))
