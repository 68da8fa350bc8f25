"""Buttons are verbs with their object, and labels write abbreviations in capital letters."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.urls import get_resolver
from django.utils.text import capfirst

from backoffice.app_names import NAMES, with_abbreviations
from backoffice.desk.kinds import KINDS
from tests.architecture.sources import ROOT

THEMES = {"System", "Light", "Dark"}
WITHOUT_OBJECT = THEMES | {"Back", "Copy"}  # *Copy* needs no object, because it copies the text beside it

BUTTON = re.compile(r"<button\b(?P<attributes>[^>]*)>(?P<text>.*?)</button>", re.DOTALL)
INPUT = re.compile(r'<input type="submit"[^>]*? value="(?P<text>[^"]*)"', re.DOTALL)
MARKUP = re.compile(r"\{%.*?%\}|<[^>]*>", re.DOTALL)
VARIABLE = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def _buttons() -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each button, with `value of variable` for each variable."""
    for template in sorted((ROOT / "templates").rglob("*.html")):
        text = template.read_text()
        for found in (*BUTTON.finditer(text), *INPUT.finditer(text)):
            label = VARIABLE.sub("value of variable", MARKUP.sub(" ", found["text"]))
            if label.strip() and 'aria-hidden="true"' not in (found.groupdict().get("attributes") or ""):
                yield template.name, " ".join(unescape(label).split())


def _actions() -> Iterator[tuple[str, str]]:
    """Yield the owner and the label of each operators' action and of each link of the desk."""
    assert get_resolver().url_patterns  # loading the URLs registers all admin classes
    for model, its_admin in admin.site._registry.items():
        for action in getattr(its_admin, "all_actions", ()):
            yield from ((model.__name__, label) for label in {action.label, action.label_for_many})
    for kind in KINDS:
        yield from ((kind.name, label) for _, label in kind.actions)


def _labels() -> Iterator[tuple[str, str]]:
    """Yield the model and the label of each field and of each column of a list."""
    for model, its_admin in admin.site._registry.items():
        for name in (*its_admin.list_display, *its_admin.readonly_fields):
            if isinstance(name, str):
                yield model.__name__, capfirst(str(label_for_field(name, model, its_admin)))
    for app in NAMES:
        for model in apps.get_app_config(app).get_models():
            yield from ((model.__name__, capfirst(str(field.verbose_name))) for field in model._meta.fields)


def test_each_button_names_its_object() -> None:
    bare = {(where, text) for where, text in _buttons() if " " not in text and text not in WITHOUT_OBJECT}
    assert not bare, "A button is a verb with its object, for example `Cancel order`."


def test_each_action_names_its_object() -> None:
    found = list(_actions())
    assert len(found) > 40
    assert not {(where, text) for where, text in found if " " not in text}


def test_labels_write_abbreviations_in_capital_letters() -> None:
    wrong = {(model, label) for model, label in _labels() if with_abbreviations(label) != label}
    assert not wrong


@pytest.mark.parametrize(("label", "shown"), [("id in source", "ID in source"), ("identity", "identity")])
def test_only_whole_words_are_abbreviations(label: str, shown: str) -> None:
    assert with_abbreviations(label) == shown
