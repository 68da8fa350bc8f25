"""The TypeScript clients of openapi-typescript, hey-api and openapi-generator (axios), under `strict`."""

from __future__ import annotations

import pytest

from .generators import JavaScript, openapi_generator


@pytest.fixture(scope="module")
def javascript(workshop) -> JavaScript:
    return JavaScript(workshop)


def test_openapi_typescript_plays_the_scenario(javascript, workshop):
    javascript.run(javascript.package("openapi-typescript"), workshop.document, "-o", "exchange.d.ts")
    javascript.play("openapi-typescript.ts")


def test_hey_api_plays_the_scenario(javascript, workshop):
    javascript.run(javascript.package("@hey-api/openapi-ts"), "-i", workshop.document, "-o", "hey-api-client")
    javascript.play("hey-api.ts")


def test_openapi_generators_axios_plays_the_scenario(javascript, workshop):
    made = openapi_generator(workshop, "typescript-axios", "--additional-properties=importFileExtension=.js")
    made.rename(javascript.folder / "axios-client")
    javascript.play("typescript-axios.ts")
