"""Fields of a variant's body that are more than a text or a number."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.bodies import Body
from api.fields import CONTROL, Text
from catalog.gtin import fault_of

BETWEEN_URLS = re.compile(r"[|,\s]+")
MOST_IMAGES, LONGEST_URL = 100, 2000
TEXT_OR_LIST = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


class ArticleNumber(Text):
    """A UPC, EAN or GTIN with its check digit; absent, empty or null mean none."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        super().__init__(required=False, allow_blank=True, allow_null=True, max_length=max(lengths))
        self.lengths = lengths

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data) or ""
        fault = fault_of(value, self.lengths) if value else None
        if fault:
            raise serializers.ValidationError(fault, code="check_digit" if "check" in fault else "invalid")
        return value


def as_texts(field: serializers.Field[Any, Any, Any, Any], data: Any) -> list[str]:
    """A list of texts, or one text as a list; `invalid` of that field for anything else."""
    texts = [data] if isinstance(data, str) else data
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        field.fail("invalid")
    if any(CONTROL.search(text) for text in texts):
        raise serializers.ValidationError("Holds a control character, which no text here may.", "control")
    return list(texts)


@extend_schema_field(TEXT_OR_LIST)
class Images(serializers.Field[str, Any, str, Any]):
    """URLs in one text, parted by `|`, `,` or whitespace, or as an array; kept parted by `|`."""

    default_error_messages = {"invalid": "Must be a text of URLs parted by |, or an array of URLs."}

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return (True, "") if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> str:
        texts = as_texts(self, data)
        parts = BETWEEN_URLS.split(texts[0]) if isinstance(data, str) else [text.strip() for text in texts]
        urls = list(dict.fromkeys(part for part in parts if part))
        if len(urls) > MOST_IMAGES:
            raise serializers.ValidationError(f"Has {len(urls)} URLs; {MOST_IMAGES} is the most.", "too_many")
        for url in urls:
            if not is_web_address(url):
                message = f"{url[:100]} is not a URL such as https://example.com/1.jpg."
                raise serializers.ValidationError(message, code="invalid_url")
        return "|".join(urls)

    def to_representation(self, value: str) -> str:
        return value


def is_web_address(url: str) -> bool:
    """Whether this is an absolute http(s) URL, free of what would part it from the next one."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname)
    except ValueError:
        return False
    plain = not re.search(r"[|\s<>\"]", url) and len(url) <= LONGEST_URL
    return plain and named and parts.scheme.lower() in ("http", "https")


@extend_schema_field(TEXT_OR_LIST)
class Bullets(serializers.Field[list[str], Any, list[str], Any]):
    """Short descriptions: an array of texts, or one text with a line for each."""

    default_error_messages = {"invalid": "Must be an array of texts."}

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return (True, []) if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> list[str]:
        texts = as_texts(self, data)
        lines = lines_of(data) if isinstance(data, str) else [text.strip() for text in texts]
        bullets = [line for line in lines if line]
        if len(bullets) > 100 or any(len(line) > 2000 for line in bullets):
            raise serializers.ValidationError("100 of up to 2000 characters each are the most.", "too_long")
        return bullets

    def to_representation(self, value: list[str]) -> list[str]:
        return value


def lines_of(text: str) -> list[str]:
    """The lines of a text that say something."""
    return [line for each in text.splitlines() if (line := each.strip())]


class Option(Body):
    """What sets a variant apart from the others of its model."""

    type = serializers.ChoiceField(
        ["color", "size", "width"], error_messages={"invalid_choice": "Must be color, size or width."}
    )
    value = Text()


class Property(Body):
    """A fact about a variant. Some clients call its name its type."""

    name = Text(required=False)
    type = Text(required=False, write_only=True)
    value = Text()

    def validate(self, attrs: dict[str, str]) -> dict[str, str]:
        name = attrs.get("name") or attrs.get("type")
        if not name:
            raise serializers.ValidationError({"name": "This field is required."}, code="required")
        return {"name": name, "value": attrs["value"]}
