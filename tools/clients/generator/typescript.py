"""The generator of `models.ts` and `operations.ts` of the TypeScript client."""

from __future__ import annotations

import json
import re
import textwrap

from tools.clients.generator.document import ClientOperation, Document, Role, Schema, kinds_of, name_of

PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
HEAD = "// {about}; made from the service's OpenAPI document.\n\n"


def models(document: Document) -> str:
    """Return the text of `models.ts`: objects as interfaces, other components as type aliases."""
    parts = [HEAD.format(about="The types of requests and answers")]
    for name, schema in document.schemas.items():
        sent = name in document.sent
        parts.append(_interface(name, schema, sent) if "properties" in schema else _alias(name, schema, sent))
    return "\n".join(parts)


def operations(document: Document) -> str:
    """Return the text of `operations.ts`: a class for each role, with a method for each operation.

    A list has a second method, which yields the items of all pages.
    """
    parts = [HEAD.format(about="The operations of the two roles")]
    parts.append('import type * as models from "./models.js";\n')
    parts.append('import { type CallOptions, Transport } from "./transport.js";\n\n')
    parts += [_class(document, "supplier"), "\n", _class(document, "retailer")]
    return "".join(parts)


def annotation(schema: Schema, sent: bool, prefix: str = "") -> str:
    """Return a schema as a TypeScript type. A `sent` schema accepts a Date for a timestamp."""
    if "$ref" in schema:
        return prefix + name_of(schema)
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(annotation(each, sent, prefix) for each in schema[key]))
    kinds = dict.fromkeys(_of_kind(kind, schema, sent, prefix) for kind in kinds_of(schema))
    return " | ".join(kinds) or "unknown"


def _of_kind(kind: str, schema: Schema, sent: bool, prefix: str) -> str:
    if kind == "array":
        return f"Array<{annotation(schema.get('items', {}), sent, prefix)}>"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"Record<string, {annotation(more, sent, prefix) if isinstance(more, dict) else 'unknown'}>"
    if kind == "string" and sent and schema.get("format") == "date-time":
        return "string | Date"
    return PLAIN[kind]


def _alias(name: str, schema: Schema, sent: bool) -> str:
    return f"{_comment(schema.get('description', ''), '')}export type {name} = {annotation(schema, sent)};\n"


def _interface(name: str, schema: Schema, sent: bool) -> str:
    required = set(schema.get("required", ()))
    rows = [
        f"{_comment(each.get('description', ''), '  ')}  {_key(field)}{'' if field in required else '?'}:"
        f" {annotation(each, sent)};\n"
        for field, each in schema["properties"].items()
    ]
    head = _comment(schema.get("description", ""), "")
    return f"{head}export interface {name} {{\n{''.join(rows)}}}\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else json.dumps(name)


def _class(document: Document, role: Role) -> str:
    methods = "\n".join(_method(each) for each in document.operations(role))
    return (
        f"export abstract class {role.capitalize()}Operations extends Transport {{\n"
        f"  protected abstract readonly party: string;\n\n{methods}}}\n"
    )


def _method(operation: ClientOperation) -> str:
    body = annotation(operation.body, True, "models.") if operation.body else ""
    first = [f"{_camel(each)}: number" for each in operation.ids]
    first += [f"body{'' if operation.needs_body else '?'}: {body}"] if body else []
    query = [_query(operation)] if operation.parameters else []
    answer = _answer(operation)
    given = ["query"] if query else ["undefined"]
    given += ["body"] if body else ["undefined"]
    arguments = ", ".join([*first, *query, "options: CallOptions = {}"])
    text = _comment(operation.about, "  ")
    text += f"  {_camel(operation.name)}({arguments}): Promise<{answer}> {{\n"
    text += (
        f'    return this.call("{operation.verb}", {_where(operation)}, {", ".join(given)}, options);\n  }}\n'
    )
    return text + (_iterator(operation) if operation.item else "")


def _answer(operation: ClientOperation) -> str:
    if operation.answer:
        return annotation(operation.answer, False, "models.")
    return "Uint8Array" if operation.is_binary else "string"


def _iterator(operation: ClientOperation) -> str:
    """Return a method that reads all pages of a list, each with the largest allowed number of items."""
    assert operation.item
    largest = next(each["schema"]["maximum"] for each in operation.parameters if each["name"] == "limit")
    ids = [f"{_camel(each)}: number" for each in operation.ids]
    arguments = ", ".join([*ids, _query(operation)])
    text = "\n" + _comment(f"Yield every item, across all pages. {operation.about}", "  ")
    text += f"  {_camel(f'iterate_{operation.iterated}')}({arguments}):"
    text += f" AsyncGenerator<{annotation(operation.item, False, 'models.')}> {{\n"
    text += f"    return this.pages({_where(operation)}, {{ limit: {min(largest, 500)}, ...query }});\n  }}\n"
    return text


def _query(operation: ClientOperation) -> str:
    fields = "; ".join(
        f"{_key(each['name'])}{'' if each.get('required') else '?'}: "
        f"{annotation(each['schema'], True, 'models.')}{'' if each.get('required') else ' | undefined'}"
        for each in operation.parameters
    )
    needed = any(each.get("required") for each in operation.parameters)
    return f"query: {{ {fields} }}" + ("" if needed else " = {}")


def _where(operation: ClientOperation) -> str:
    party = "" if operation.path.startswith("/v3/") else "${this.party}"
    return "`" + party + re.sub(r"\{(\w+)\}", lambda found: f"${{{_camel(found[1])}}}", operation.path) + "`"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.capitalize() for each in rest)


def _comment(text: str, indent: str) -> str:
    lines = textwrap.wrap(" ".join(text.replace("*/", "* /").split()), 96)
    if len(lines) < 2:
        return f"{indent}/** {lines[0]} */\n" if lines else ""
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"
