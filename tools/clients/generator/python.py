"""The generator of `models.py` and `operations.py` of the Python client."""

from __future__ import annotations

import keyword
import textwrap

from tools.clients.generator.document import ClientOperation, Document, Role, Schema, kinds_of, name_of

PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "null": "None"}
HEAD = '"""{about}; made from the service\'s OpenAPI document."""\n\nfrom __future__ import annotations\n\n'


def models(document: Document) -> str:
    """Return the text of `models.py`: objects as TypedDicts, other components as type aliases."""
    parts = [HEAD.format(about="The types of requests and answers")]
    parts.append("from datetime import date, datetime\nfrom decimal import Decimal\n")
    parts.append("from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n")
    names = "".join(f"\n        {name!r}," for name in document.decimals)
    parts.append(f"DECIMALS = frozenset(\n    {{{names}\n    }}\n)\n")
    parts.append('"""The fields that are numbers with decimals: Decimal in every answer."""\n')
    for name, schema in document.schemas.items():
        sent = name in document.sent
        parts.append(
            _typed_dict(name, schema, sent) if "properties" in schema else _alias(name, schema, sent)
        )
    return "\n".join(parts)


def operations(document: Document) -> str:
    """Return the text of `operations.py`: a class for each role, with a method for each operation.

    A list has a second method, which yields the items of all pages.
    """
    parts = [HEAD.format(about="The operations of the two roles")]
    parts.append("from collections.abc import Iterator\nfrom datetime import date, datetime\n")
    parts.append("from typing import Any, Literal\n\nfrom exchange_client import models\n")
    parts.append("from exchange_client.transport import Transport\n")
    parts += [_class(document, "supplier"), _class(document, "retailer")]
    return "\n".join(parts)


def annotation(schema: Schema, sent: bool, prefix: str = "") -> str:
    """Return the Python type of a schema. With `sent`, the type is for requests and accepts more values."""
    if "$ref" in schema:
        return prefix + name_of(schema)
    if "enum" in schema:
        return f"Literal[{', '.join(repr(each) for each in schema['enum'])}]"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(annotation(each, sent, prefix) for each in schema[key]))
    return " | ".join(_of_kind(kind, schema, sent, prefix) for kind in kinds_of(schema)) or "Any"


def _of_kind(kind: str, schema: Schema, sent: bool, prefix: str) -> str:
    if kind == "array":
        return f"list[{annotation(schema.get('items', {}), sent, prefix)}]"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {annotation(more, sent, prefix) if isinstance(more, dict) else 'Any'}]"
    if kind == "number":
        return "Decimal | float" if sent else "Decimal"
    moments = {"date-time": "str | datetime", "date": "str | date"}
    return moments.get(schema.get("format", ""), "str") if sent and kind == "string" else PLAIN[kind]


def _alias(name: str, schema: Schema, sent: bool) -> str:
    return f'{name}: TypeAlias = "{annotation(schema, sent)}"\n'


def _typed_dict(name: str, schema: Schema, sent: bool) -> str:
    required = set(schema.get("required", ()))
    if any(keyword.iskeyword(field) for field in schema["properties"]):
        return _typed_dict_by_call(name, schema, sent)
    rows = []
    for field, each in schema["properties"].items():
        kind = annotation(each, sent)
        rows += [f"    # {line}" for line in _wrapped(each.get("description", ""), 96)]
        rows.append(f"    {field}: {kind if field in required else f'NotRequired[{kind}]'}")
    about = _docstring(schema.get("description", ""), "    ")
    return f"\nclass {name}(TypedDict):\n{about}" + "\n".join(rows) + "\n"


def _typed_dict_by_call(name: str, schema: Schema, sent: bool) -> str:
    """Return a TypedDict in call syntax, which allows fields with the name of a keyword such as `from`."""
    required = set(schema.get("required", ()))
    rows = []
    for field, each in schema["properties"].items():
        kind = annotation(each, sent)
        rows.append(f'"{field}": "{kind if field in required else f"NotRequired[{kind}]"}"')
    return f'{name} = TypedDict("{name}", {{{", ".join(rows)}}})\n'


def _class(document: Document, role: Role) -> str:
    methods = [_method(each) for each in document.operations(role)]
    return f"\nclass {role.capitalize()}Operations(Transport):\n    party: str\n\n" + "\n".join(methods)


def _method(operation: ClientOperation) -> str:
    body = annotation(operation.body, True, "models.") if operation.body else ""
    empty = "" if operation.needs_body else " | None = None"
    first = [f"{each}: int" for each in operation.ids] + ([f"body: {body}{empty}"] if body else [])
    named = [_argument(each) for each in operation.parameters]
    keyed = ["idempotency_key: str | None = None"] if operation.verb == "POST" else []
    keyed += ["if_match: str | None = None"] if operation.has_if_match else []
    answer = _answer(operation)
    call = f'self.call("{operation.verb}", {_where(operation)}'
    call += f", params={_params(operation)}" if named else ""
    call += ", body=body" if body else ""
    call += "".join(f", {name}={name}" for name in (each.partition(":")[0] for each in keyed))
    text = _function(operation.name, [*first], [*named, *keyed], answer, operation.about)
    text += f"        found: {answer} = {call})\n        return found\n"
    return text + (_iterator(operation) if operation.item else "")


def _answer(operation: ClientOperation) -> str:
    if operation.answer:
        return annotation(operation.answer, False, "models.")
    return "bytes" if operation.is_binary else "str"


def _iterator(operation: ClientOperation) -> str:
    """Return a method that reads all pages of a list, each with the largest allowed number of items."""
    assert operation.item
    named = [_argument(each) for each in operation.parameters if each["name"] != "limit"]
    largest = next(each["schema"]["maximum"] for each in operation.parameters if each["name"] == "limit")
    item = annotation(operation.item, False, "models.")
    ids = [f"{each}: int" for each in operation.ids]
    text = _function(
        f"iter_{operation.iterated}",
        ids,
        [*named, f"limit: int = {min(largest, 500)}"],
        f"Iterator[{item}]",
        f"Yield every item, across all pages. {operation.about}",
    )
    return f"\n{text}        return self.pages({_where(operation)}, {_params(operation)})\n"


def _where(operation: ClientOperation) -> str:
    party = "" if operation.path.startswith("/v3/") else "{self.party}"
    return f'f"{party}{operation.path}"'


def _params(operation: ClientOperation) -> str:
    return "{" + ", ".join(f'"{each["name"]}": {each["name"]}' for each in operation.parameters) + "}"


def _function(name: str, first: list[str], named: list[str], answer: str, about: str) -> str:
    arguments = ", ".join(["self", *first, *(["*"] if named else []), *named])
    return f"    def {name}({arguments}) -> {answer}:\n{_docstring(about, '        ')}"


def _argument(parameter: Schema) -> str:
    kind = annotation(parameter["schema"], True, "models.")
    return f"{parameter['name']}: {kind}" + ("" if parameter.get("required") else " | None = None")


def _docstring(text: str, indent: str) -> str:
    lines = _wrapped(text.replace("\\", "\\\\").replace('"""', "'''"), 96)
    return f'{indent}"""' + f"\n{indent}".join(lines) + f'\n{indent}"""\n\n' if lines else ""


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), width)
