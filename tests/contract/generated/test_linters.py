"""Two common linters find no error in the OpenAPI document with their recommended rules."""

from __future__ import annotations

import pytest

from .conftest import HERE
from .generators import JavaScript

pytestmark = pytest.mark.program


@pytest.fixture(scope="module")
def linters(workshop) -> JavaScript:
    return JavaScript(workshop, HERE / "linters")


def test_redocly_finds_no_error(linters, workshop):
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    config = linters.folder / "redocly.yaml"
    config.write_text("extends: [recommended]\n", encoding="utf-8")
    program = linters.package("@redocly/cli", "redocly")
    linters.run(program, "lint", workshop.document, "--config", config, **quiet)


def test_spectral_finds_no_error(linters, workshop):
    ruleset = linters.folder / "ruleset.yaml"
    ruleset.write_text("extends: spectral:oas\n", encoding="utf-8")
    program = linters.package("@stoplight/spectral-cli", "spectral")
    linters.run(program, "lint", workshop.document, "--ruleset", ruleset, "--fail-severity", "error")
