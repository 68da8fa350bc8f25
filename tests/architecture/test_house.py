"""Rules of this project's code that the linters do not check."""

from __future__ import annotations

import ast
import re

from tests.architecture.sources import DOMAIN, functions, sources, walk

LONGEST_FUNCTION = 60
MOST_ANY = 720
"""The maximum number of `Any` outside of tools. Write `object` for a value that is only passed on."""

# These functions save a row that they have just created, so the save cannot overwrite a change.
MAKES_A_ROW = {
    "accounts/models/api_key.py: ApiKey.issue",
    "accounts/models/access_token.py: AccessToken.issue",
}
# This is the `save` of a form, not of a model.
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


def test_any_stays_rare():
    apps = {path: tree for path, tree in sources().items() if not path.startswith("tools/")}
    names = [node for tree in apps.values() for node in walk(tree) if isinstance(node, ast.Name)]
    count = sum(node.id == "Any" for node in names)
    assert MOST_ANY - 40 < count <= MOST_ANY, f"`Any` stands {count} times"


def test_nothing_waits_by_sleeping():
    found = [
        f"{path}:{node.lineno}"
        for path, tree in sources(*DOMAIN, "fastdb", "api").items()
        for node in walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "sleep"
    ]

    assert found == []


def test_no_app_talks_by_signals():
    """A reader finds all effects of a change in its code, and not in receivers of signals."""
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
    """A lambda reads its variables when it is called: all lambdas of a loop would use the last values."""
    found = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "on_commit"
        and any(isinstance(argument, ast.Lambda) for argument in node.args)
    ]

    assert found == []


def test_only_after_commit_registers_robust_callbacks():
    """Django logs the `__qualname__` of a robust callback that failed. A partial has no such name.

    `fastdb.after_commit` adds the name. Without it, Django's log call would raise an error.
    """
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
    """Only `tests/factories` knows the required columns, so a new column needs a change only there."""
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

    assert found == {"tests/api/probe.py: create"}  # this file is a view, not a test
