"""Fields of a variant's body that are not plain strings or numbers."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from api.bodies import Body
from api.fields import Choice, Text, control_fault
from catalog.gtin import error_in

BETWEEN_URLS = re.compile(r"[|,\s]+")
MOST_IMAGES, LONGEST_URL = 100, 2000
MOST_BULLETS, LONGEST_BULLET = 100, 2000


class ArticleNumber(Text):
    """A UPC, EAN or GTIN with its check digit; absent, empty or null means no number."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        super().__init__(required=False, allow_blank=True, allow_null=True, max_length=max(lengths))
        self.lengths = lengths

    def run_validation(self, data: object = serializers.empty) -> Any:
        value = super().run_validation(data) or ""
        error = error_in(value, self.lengths) if value else None
        if error:
            raise serializers.ValidationError(error, code="check_digit" if "check" in error else "invalid")
        return value


def as_strings(field: serializers.Field[Any, Any, Any, Any], data: object) -> list[str]:
    """Return the array as a list of strings, or one string as a list. Raises ValidationError."""
    strings = [data] if isinstance(data, str) else data
    if not isinstance(strings, list):
        field.fail("invalid")
    for index, element in enumerate(strings):
        if not isinstance(element, str):
            raise element_error(data, index, "Must be a string.", "invalid")
        if fault := control_fault(element):
            raise element_error(data, index, fault, "control")
    return list(strings)


def element_error(data: object, index: int, message: str, code: str) -> serializers.ValidationError:
    """Return the error of one array element; for a single string, the error of the whole field."""
    detail = ErrorDetail(message, code=code)
    return serializers.ValidationError({index: [detail]} if isinstance(data, list) else [detail])  # type: ignore[dict-item]


# Declare only the array, and mention the single string in the description: for a choice between both types,
# the common Java generators produce code that does not compile (docs/adr/0049).
@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "string", "maxLength": LONGEST_URL},
        "maxItems": MOST_IMAGES,
        "description": "URLs of pictures, the main one first; also one string, separated by `|` or commas.",
    }
)
class Images(serializers.Field[str, Any, str, Any]):
    """URLs in one string, separated by `|`, `,` or whitespace, or in an array; stored separated by `|`."""

    default_error_messages = {"invalid": "Must be a string of URLs separated by |, or an array of URLs."}

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def validate_empty_values(self, data: object) -> tuple[bool, Any]:
        return (True, "") if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: object) -> str:
        strings = as_strings(self, data)
        parts = BETWEEN_URLS.split(strings[0]) if isinstance(data, str) else [url.strip() for url in strings]
        for index, url in enumerate(parts):
            if url and not is_web_address(url):
                message = f"{url[:100]} is not a URL such as https://example.com/1.jpg."
                raise element_error(data, index, message, "invalid_url")
        urls = list(dict.fromkeys(part for part in parts if part))
        if len(urls) > MOST_IMAGES:
            raise serializers.ValidationError(
                f"Has {len(urls)} URLs; the maximum is {MOST_IMAGES}.", "too_many"
            )
        return "|".join(urls)

    def to_representation(self, value: str) -> str:
        return value


def is_web_address(url: str) -> bool:
    """Return whether the text is one absolute http(s) URL without spaces, `|`, `<`, `>` or double quotes."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname)
    except ValueError:
        return False
    is_plain = not re.search(r"[|\s<>\"]", url) and len(url) <= LONGEST_URL
    return is_plain and has_host and parts.scheme.lower() in ("http", "https")


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "string", "maxLength": LONGEST_BULLET},
        "maxItems": MOST_BULLETS,
        "description": "Short descriptions; also as one string with a line for each.",
    }
)
class Bullets(serializers.Field[list[str], Any, list[str], Any]):
    """Short descriptions: an array of strings, or one string with a line for each description."""

    default_error_messages = {"invalid": "Must be a string or an array of strings."}

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def validate_empty_values(self, data: object) -> tuple[bool, Any]:
        return (True, []) if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: object) -> list[str]:
        strings = as_strings(self, data)
        lines = lines_of(data) if isinstance(data, str) else [text.strip() for text in strings]
        for index, line in enumerate(lines):
            if len(line) > LONGEST_BULLET:
                raise element_error(data, index, f"Has more than {LONGEST_BULLET} characters.", "too_long")
        bullets = [line for line in lines if line]
        if len(bullets) > MOST_BULLETS:
            raise serializers.ValidationError(
                f"Has {len(bullets)} lines; the maximum is {MOST_BULLETS}.", "too_many"
            )
        return bullets

    def to_representation(self, value: list[str]) -> list[str]:
        return value


def lines_of(text: str) -> list[str]:
    """Return the non-blank lines, trimmed."""
    return [line for raw in text.splitlines() if (line := raw.strip())]


class Option(Body):
    """A value by which a variant differs from other variants of its model."""

    type = Choice(["color", "size", "width"])
    value = Text()


class Property(Body):
    """A fact about a variant. Some clients send `type` instead of `name`."""

    name = Text(required=False)
    type = Text(required=False)
    value = Text()

    def validate(self, attrs: dict[str, str]) -> dict[str, str]:
        name = attrs.get("name") or attrs.get("type")
        if not name:
            raise serializers.ValidationError({"name": "This field is required."}, code="required")
        return {"name": name, "value": attrs["value"]}
