"""Check the answers that tests get against the OpenAPI document, with JSON Schema 2020-12."""

from __future__ import annotations

import functools
import json
import re
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import jsonschema_rs
from django.urls import Resolver404
from drf_spectacular.generators import SchemaGenerator

from api.renderers import encode


@functools.cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document of the service, without paths that a test has added."""
    found: dict[str, Any] = json.loads(
        encode(SchemaGenerator(urlconf="config.urls").get_schema(request=None, public=True))
    )
    return found


@functools.cache
def registry() -> jsonschema_rs.Registry:
    """Return a registry with the document, to which all validators refer.

    A copy of the document in each validator would take more time than the checks.
    """
    return jsonschema_rs.Registry([("urn:document", document())], draft=jsonschema_rs.Draft202012)


@functools.cache
def validator(path: str, method: str, status: int) -> jsonschema_rs.Draft202012Validator | None:
    """Return the validator of an answer's JSON. Return None without JSON, or if a test has added the path."""
    operation = document()["paths"].get(path, {}).get(method)
    if operation is None:
        return None
    assert str(status) in operation["responses"], f"{method} {path} answers {status}, which is not described"
    media = operation["responses"][str(status)].get("content", {}).get("application/json")
    if media is None:
        return None
    place = ("paths", path, method, "responses", str(status), "content", "application/json", "schema")
    pointer = "/".join(name.replace("~", "~0").replace("/", "~1") for name in place)
    reference = {"$ref": f"urn:document#/{quote(pointer, safe='/~')}"}
    return jsonschema_rs.Draft202012Validator(reference, validate_formats=True, registry=registry())


def check(answer: Any, method: str, url: str) -> None:
    """Check an answer. Raises AssertionError if the answer differs from the document."""
    if answer.streaming or "fields" in parse_qs(urlsplit(url).query):
        return
    try:
        route = answer.resolver_match.route
    except Resolver404:  # the service has no such path
        return
    path = "/" + re.sub(r"<id:(\w+)>", r"{\1}", route)
    found = validator(path, method.lower(), answer.status_code)
    if found is not None and answer.headers.get("Content-Encoding") != "gzip":
        errors = [f"{each.instance_path}: {each.message}" for each in found.iter_errors(answer.json())]
        assert not errors, f"{method} {path} {answer.status_code}: {errors[:3]}"
