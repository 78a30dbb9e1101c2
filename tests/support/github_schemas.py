"""GitHub's published descriptions of its API and webhooks, as judges of what the emulator says.

They come from npm's `@octokit/openapi` and `@octokit/openapi-webhooks`, installed by
`tests/fixtures/npm/install.sh`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

_HERE = Path(__file__).parent.parent / "fixtures" / "npm"
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_NAME = "urn:github"
_FORMATS = jsonschema.FormatChecker(formats=())


@_FORMATS.checks("date-time")
def _is_date_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    shape = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
    return re.fullmatch(shape, value) is not None


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    parts = urlsplit(value)
    return bool(parts.scheme and parts.netloc) and not re.search(r"[{}\s]", value)


def _or_null(keyword: str) -> Any:
    """Return a keyword's check as OpenAPI 3.0 has it: ``nullable`` lets null through."""
    check = jsonschema.Draft202012Validator.VALIDATORS[keyword]

    def lenient(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if instance is None and schema.get("nullable"):
            return
        yield from check(validator, rule, instance, schema) or ()

    return lenient


_OpenApi: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {it: _or_null(it) for it in ("type", "enum", "allOf", "anyOf", "oneOf")},
)


def schemas_reason() -> str | None:
    """Return why the descriptions cannot be used, or nothing if they are here."""
    if _document("openapi").exists() and _document("openapi-webhooks").exists():
        return None
    return "GitHub's descriptions are not here; run tests/fixtures/npm/install.sh"


def _document(package: str) -> Path:
    folder = Path(os.environ.get("REMIT_NPM_FIXTURES") or _HERE)
    return folder / "node_modules" / "@octokit" / package / "generated" / "api.github.com.json"


class _Description:
    """One OpenAPI document."""

    def __init__(self, package: str) -> None:
        self.document: dict[str, Any] = json.loads(_document(package).read_text())
        resource = DRAFT202012.create_resource(self.document)
        self._registry = Registry().with_resource(_NAME, resource)
        self._validators: dict[str, Validator] = {}

    def faults(self, pointer: str, instance: Any) -> list[str]:
        """Return what is wrong with a value that a schema of the document describes."""
        if pointer not in self._validators:
            self._validators[pointer] = _OpenApi(
                {"$ref": f"{_NAME}#{pointer}"}, registry=self._registry, format_checker=_FORMATS
            )
        return [
            f"{error.json_path}: {error.message[:300]}"
            for error in self._validators[pointer].iter_errors(instance)
        ]

    def follow(self, node: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Return what a reference names, with its pointer; anything else as it is."""
        if "$ref" not in node:
            return None, node
        pointer = node["$ref"].removeprefix("#")
        found: Any = self.document
        for part in pointer.strip("/").split("/"):
            found = found[part]
        return pointer, found

    def known_keys(self, schema: dict[str, Any]) -> set[str]:
        """Return the properties that an object's schema names, in any of its alternatives."""
        _, schema = self.follow(schema)
        keys = set(schema.get("properties", ()))
        for way in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(way, ()):
                keys |= self.known_keys(part)
        return keys


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


class GitHubSchemas:
    """Judges answers and webhook payloads."""

    @cached_property
    def _rest(self) -> _Description:
        return _Description("openapi")

    @cached_property
    def _webhooks(self) -> _Description:
        return _Description("openapi-webhooks")

    @cached_property
    def _routes(self) -> list[tuple[re.Pattern[str], str]]:
        routes = []
        for path in sorted(self._rest.document["paths"], key=lambda it: it.count("{")):
            pattern = re.sub(r"\\\{(ref|branch)\\\}$", ".+", re.escape(path))
            routes.append((re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", pattern)), path))
        return routes

    def faults_of_answer(self, method: str, path: str, status: int, body: Any) -> list[str]:
        """Return what is wrong with an answer; a body that is not there is None."""
        where = f"{method} {path} {status}"
        template = next((it for pattern, it in self._routes if pattern.fullmatch(path)), None)
        operation = self._rest.document["paths"].get(template, {}).get(method.lower())
        if operation is None:
            return [] if status == 404 else [f"{where}: GitHub has no such address"]
        response = operation["responses"].get(str(status))
        if status >= 400 and "content" not in self._rest.follow(response or {})[1]:
            pointer = "/components/schemas/basic-error"
            return [f"{where}: {it}" for it in self._rest.faults(pointer, body)]
        if response is None:
            return [f"{where}: GitHub gives no such status here"]
        shared, response = self._rest.follow(response)
        content = response.get("content", {}).get("application/json")
        if content is None:
            return [] if body is None else [f"{where}: there should be no body"]
        base = shared or f"/paths/{_escape(template or '')}/{method.lower()}/responses/{status}"
        pointer = f"{base}/content/application~1json/schema"
        faults = self._rest.faults(pointer, body)
        row, schema = body, content["schema"]
        if isinstance(body, list) and body:
            row, (_, schema) = body[0], self._rest.follow(schema)
            schema = schema["items"]
        known = self._rest.known_keys(schema)
        if isinstance(row, dict) and known and status < 400:
            faults += [f"GitHub has no {key!r} there" for key in row.keys() - known]
        return [f"{where}: {it}" for it in faults]

    def faults_of_delivery(
        self, event: str, headers: dict[str, str], payload: dict[str, Any]
    ) -> list[str]:
        """Return what is wrong with a webhook delivery; header names in lower case."""
        name = event.replace("_", "-")
        if "action" in payload:
            name += f"-{payload['action'].replace('_', '-')}"
        described = self._webhooks.document["webhooks"].get(name)
        if described is None:
            return [f"{name}: GitHub has no such webhook"]
        wanted = [
            it["name"].lower() for it in described["post"]["parameters"] if it.get("required")
        ]
        faults = [f"the header {it} is missing" for it in wanted if it not in headers]
        pointer = f"/webhooks/{name}/post/requestBody/content/application~1json/schema"
        faults += self._webhooks.faults(pointer, payload)
        return [f"{name}: {it}" for it in faults]
