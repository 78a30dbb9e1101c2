"""What can be said of MCP servers and their tools without one (WSC-6)."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.mcp import HttpServer, McpServerError, StdioServer, is_server_name, public_name
from remit.harness.mcp.schema_check import argument_check
from remit.harness.mcp.servers import refuse_bad_names
from remit.harness.tools import InvalidArgumentsError

# The digests are what the DeepSeek Harness gives the same tools.
NAMES = [
    ("remit", "report", "mcp__remit__report"),
    ("re_mit", "fine__x", "mcp__re_mit__fine__x"),
    ("re_mit", "report.progress", "mcp__re_mit__report_progress_a04b5010bde2"),
    ("re_mit", "b" * 80, "mcp__re_mit__" + "b" * 38 + "_6aa470e6f53e"),
]


@pytest.mark.rule("WSC-6")
@pytest.mark.parametrize(("server", "raw", "public"), NAMES)
def test_a_tool_has_a_stable_public_name(server: str, raw: str, public: str) -> None:
    assert public_name(server, raw) == public


servers = st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True).filter(is_server_name)


@pytest.mark.rule("WSC-6")
@given(servers, st.text(max_size=90))
def test_a_public_name_is_safe_and_its_server_stands_before_the_first_double_underscore(
    server: str, raw: str
) -> None:
    public = public_name(server, raw)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", public)
    split = public.removeprefix("mcp__").partition("__")[0]
    assert split == server or server.endswith("_") or raw.startswith("_")


@given(servers, st.text(max_size=60), st.text(max_size=60))
def test_no_two_tools_of_a_server_share_a_public_name(server: str, one: str, other: str) -> None:
    assert (public_name(server, one) == public_name(server, other)) == (one == other)


def test_a_name_that_fits_exactly_is_kept() -> None:
    raw = "x" * (64 - len("mcp__s__"))
    assert public_name("s", raw) == f"mcp__s__{raw}"
    digest = hashlib.sha256(f"s\0{raw}x".encode()).hexdigest()[:12]
    assert public_name("s", raw + "x") == f"mcp__s__{raw}"[:51] + f"_{digest}"


@pytest.mark.parametrize("name", ["", "a.b", "a b", "x" * 33, "a__b", "é"])
def test_a_server_name_that_tools_could_not_carry_is_refused(name: str) -> None:
    with pytest.raises(McpServerError):
        refuse_bad_names([HttpServer(name, "http://x")])


def test_two_servers_of_one_name_are_refused() -> None:
    with pytest.raises(McpServerError, match="twice"):
        refuse_bad_names([HttpServer("a", "http://x"), StdioServer("a", "/bin/x")])


def test_what_may_be_secret_of_a_server_is_not_in_its_text() -> None:
    shown = repr(HttpServer("a", "http://x", {"authorization": "Bearer s3cret"})) + repr(
        StdioServer("b", "/bin/x", (), {"TOKEN": "s3cret"})
    )
    assert "s3cret" not in shown


SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "kind": {"enum": ["progress", "ready"]},
        "more": {"$ref": "#/$defs/more"},
    },
    "required": ["text"],
    "additionalProperties": False,
    "$defs": {"more": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}


def test_arguments_that_fit_are_passed_on() -> None:
    arguments = {"text": "hi", "kind": "ready", "more": {"n": 1}}
    assert argument_check("t", SCHEMA)(arguments) == arguments


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "'text' is a required property"),
        ({"text": 1}, "text: 1 is not of type 'string'"),
        ({"text": "a", "kind": "x"}, "kind: 'x' is not one of"),
        ({"text": "a", "more": {"n": "1"}}, r"more\.n: '1' is not of type 'integer'"),
        ({"text": "a", "other": 1}, "Additional properties are not allowed"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(
    arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidArgumentsError, match=problem):
        argument_check("t", SCHEMA)(arguments)


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not valid"):
        argument_check("t", {"type": "colour"})


@pytest.mark.parametrize("reference", ["https://evil.example/schema.json", "file:///etc/passwd"])
def test_a_schema_never_makes_the_harness_fetch_another(
    reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda request, *_: fetched.append(request))
    check = argument_check("t", {"properties": {"a": {"$ref": reference}}})
    with pytest.raises(InvalidArgumentsError, match="its schema refers to"):
        check({"a": 1})
    assert fetched == []
