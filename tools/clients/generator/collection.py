"""A collection of all requests for Postman, Bruno or Insomnia (format: Postman 2.1)."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Any

from tools.clients.generator.document import JSON, Schema

FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
PARTIES = {"supplier_id": "1", "retailer_id": "1"}
VARIABLES = {"base_url": "http://127.0.0.1:8000", "api_key": "", **PARTIES}
"""The variables of the collection. `api_key` is the key of the party whose id is set."""


def collection(document: Schema) -> Schema:
    """Return the collection of an OpenAPI document: a folder for each tag, a request for each operation."""
    found = [
        (said["tags"][0], _request(path, verb, said))
        for path, item in document["paths"].items()
        for verb, said in item.items()
    ]
    folders = groupby(sorted(found, key=lambda each: each[0]), key=lambda each: each[0])
    return {
        "info": {
            "name": document["info"]["title"],
            "description": document["info"]["description"],
            "version": document["info"]["version"],
            "schema": FORMAT,
        },
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{api_key}}", "type": "string"}]},
        "variable": [{"key": key, "value": value} for key, value in VARIABLES.items()],
        "item": [{"name": tag, "item": [each for _, each in requests]} for tag, requests in folders],
    }


def _request(path: str, verb: str, said: Schema) -> Schema:
    content = said.get("requestBody", {}).get("content", {})
    request: dict[str, Any] = {
        "method": verb.upper(),
        "description": said.get("description", ""),
        "header": [{"key": "Content-Type", "value": JSON}] if JSON in content else [],
        "url": _url(path, said.get("parameters", [])),
    }
    if JSON in content:
        text = json.dumps(content[JSON].get("example"), indent=2, ensure_ascii=False)
        request["body"] = {"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}
    if not said.get("security", True):
        request["auth"] = {"type": "noauth"}
    return {"name": said.get("summary") or said["operationId"], "request": request}


def _url(path: str, parameters: list[Schema]) -> Schema:
    parts = [re.sub(r"\{(\w+)\}", _placeholder, part) for part in path.strip("/").split("/")]
    query = [
        {
            "key": each["name"],
            "value": "",
            "description": each.get("description", ""),
            "disabled": not each.get("required"),
        }
        for each in parameters
        if each["in"] == "query"
    ]
    variables = [{"key": part[1:], "value": ""} for part in parts if part.startswith(":")]
    raw = "/".join(["{{base_url}}", *parts])
    return {"raw": raw, "host": ["{{base_url}}"], "path": parts, "query": query, "variable": variables}


def _placeholder(found: re.Match[str]) -> str:
    """Return a variable of the collection for a party's id, and a variable of the request for other ids."""
    return f"{{{{{found[1]}}}}}" if found[1] in PARTIES else f":{found[1]}"
