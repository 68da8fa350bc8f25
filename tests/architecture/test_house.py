"""Rules of this project, so that no reader has to remember them."""

from __future__ import annotations

import ast
import re

from tests.architecture.sources import DOMAIN, functions, sources, walk

LONGEST_FUNCTION = 60

# `save()` of a row that the code has just created: it cannot overwrite anything.
MAKES_A_ROW = {
    "accounts/models/api_key.py: ApiKey.issue",
    "accounts/models/access_token.py: AccessToken.issue",
}
# A form saves its own fields.
FORMS = {"sftp_ingest/admin.py: PasswordForm.save"}
NOT_A_MODEL = {"stock", "printed"}
# Django registers its own pages of users and groups before our apps can.
REPLACES_DJANGOS_ADMIN = {"backoffice/operators.py"}


def test_functions_stay_short():
    long = {
        f"{path}: {name}": function.end_lineno - function.lineno
        for path, tree in sources().items()
        for name, function in functions(tree)
        if function.end_lineno and function.end_lineno - function.lineno > LONGEST_FUNCTION
    }

    assert long == {}


def test_nothing_waits_by_sleeping():
    found = [
        f"{path}:{node.lineno}"
        for path, tree in sources(*DOMAIN, "fastdb", "api").items()
        for node in walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "sleep"
    ]

    assert found == []


def test_no_app_talks_by_signals():
    """The effects of a change are in the code of the change."""
    found = [
        path
        for path, tree in sources(*DOMAIN, "fastdb", "api").items()
        for node in walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module is not None
        and (node.module == "django.dispatch" or node.module.endswith(".signals"))
    ]

    assert found == []


def test_no_app_replaces_the_admin_of_another_app():
    """Upper apps register panels and actions instead (`accounts.operating.record_panels`)."""
    calls = {
        path
        for path, tree in sources().items()
        for node in walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "unregister"
        and ast.unparse(node.value).endswith("site")
    }

    assert calls == REPLACES_DJANGOS_ADMIN


def test_callbacks_of_on_commit_are_bound_at_once():
    """A lambda would read its variables when it is called; in a loop, each would see the last."""
    found = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "on_commit"
        and any(isinstance(argument, ast.Lambda) for argument in node.args)
    ]

    assert found == []


def test_calls_that_may_fail_after_the_commit_have_one_place():
    """Django fails itself when a robust callback without a name fails: `fastdb.after_commit` gives it one."""
    found = {
        path
        for path, tree in sources().items()
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "on_commit"
        and any(keyword.arg == "robust" for keyword in node.keywords)
    }

    assert found == {"fastdb/after_commit.py"}


def test_a_save_names_its_fields():
    """Without `update_fields`, a save would overwrite concurrent changes with old values."""
    found = {
        f"{path}: {name}"
        for path, tree in sources(*DOMAIN).items()
        for name, function in functions(tree)
        for node in walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "save"
        and not {keyword.arg for keyword in node.keywords} & {"update_fields", "force_insert"}
        and getattr(node.func.value, "id", "") not in NOT_A_MODEL
    }

    assert found == MAKES_A_ROW | FORMS


def test_tests_make_their_rows_by_factories():
    """The needs of a row are in `tests/factories`, so a new column is added only there."""
    found = {
        f"{path}: {node.func.attr}"
        for path, tree in sources("tests").items()
        for node in walk(tree)
        if not path.startswith("tests/factories/")
        and isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and re.fullmatch(r"(bulk_|get_or_)?create(_user|_superuser)?", node.func.attr)
        and getattr(node.func.value, "attr", "") == "objects"
    }

    assert found == {"tests/api/probe.py: create"}  # a view for tests
