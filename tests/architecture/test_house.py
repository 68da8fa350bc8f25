"""Rules of the house that a reader would otherwise have to hold in mind."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.conf import settings

from tests.architecture.sources import DOMAIN, functions, sources

LONGEST_FILE = 500
LONGEST_FUNCTION = 60

# `save()` of a row that is made just there: there is nothing yet that it could overwrite.
MAKES_A_ROW = {
    "accounts/models.py: ApiKey.issue",
    "accounts/models.py: AccessToken.issue",
    "accounts/admin.py: ApiKeyAdmin.save_model",
    "sftp_ingest/incoming.py: Incoming.finish",
    "sftp_ingest/placing.py: arrive",
}
# A form saves what it shows.
FORMS = {"sftp_ingest/admin.py: PasswordForm.save"}
NOT_A_MODEL = {"ledger"}


def test_files_stay_small():
    root = Path(settings.BASE_DIR)
    long = {path: len((root / path).read_text().splitlines()) for path in sources()}

    assert {path: length for path, length in long.items() if length > LONGEST_FILE} == {}


def test_functions_stay_short():
    long = {
        f"{path}: {name}": function.end_lineno - function.lineno
        for path, tree in sources().items()
        for name, function in functions(tree)
        if function.end_lineno and function.end_lineno - function.lineno > LONGEST_FUNCTION
    }

    assert long == {}


@pytest.mark.parametrize("app", DOMAIN)
def test_an_app_has_the_files_that_a_reader_looks_for(app):
    here = {path.name for path in (Path(settings.BASE_DIR) / app).iterdir()}

    assert {"apps.py", "models.py", "migrations"} <= here
    if "views.py" in here:
        assert {"urls.py", "serializers.py"} <= here


def test_nothing_waits_by_sleeping():
    found = [
        f"{path}:{node.lineno}"
        for path, tree in sources(*DOMAIN, "api").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "sleep"
    ]

    assert found == []


def test_no_app_talks_by_signals():
    """What follows from a change stands where the change is made."""
    found = [
        path
        for path, tree in sources(*DOMAIN, "api").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module is not None
        and (node.module == "django.dispatch" or node.module.endswith(".signals"))
    ]

    assert found == []


def test_what_waits_for_the_commit_is_bound_at_once():
    """A lambda would read its variables when it is called; in a loop, each would see the last."""
    found = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "on_commit"
        and any(isinstance(argument, ast.Lambda) for argument in node.args)
    ]

    assert found == []


def test_a_save_says_what_it_writes():
    """Without `update_fields` it would write back what it read, over what others wrote meanwhile."""
    found = {
        f"{path}: {name}"
        for path, tree in sources(*DOMAIN).items()
        for name, function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "save"
        and not {keyword.arg for keyword in node.keywords} & {"update_fields", "force_insert"}
        and getattr(node.func.value, "id", "") not in NOT_A_MODEL
    }

    assert found == MAKES_A_ROW | FORMS
