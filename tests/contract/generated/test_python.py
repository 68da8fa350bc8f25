"""The Python clients of openapi-python-client and openapi-generator.

openapi-python-client does not support PDF answers. Its setting `content_type_overrides` makes it read bytes.
"""

from __future__ import annotations

import sys

import pytest

from .conftest import SCENARIOS
from .generators import openapi_generator


def test_openapi_python_client_plays_the_scenario(workshop):
    pytest.importorskip("openapi_python_client", reason="needs what `make clients` installs")
    made = workshop.folder / "openapi-python-client"
    settings = workshop.folder / "openapi-python-client.yml"
    settings.write_text("content_type_overrides:\n  application/pdf: application/octet-stream\n")
    workshop.run(
        *("openapi-python-client", "generate", "--path", workshop.document),
        *("--output-path", made, "--config", settings, "--fail-on-warning"),
    )
    workshop.play(sys.executable, SCENARIOS / "openapi_python_client.py", PYTHONPATH=str(made))


def test_openapi_generators_python_plays_the_scenario(workshop):
    made = openapi_generator(workshop, "python")
    workshop.play(sys.executable, SCENARIOS / "openapi_generator.py", PYTHONPATH=str(made))
