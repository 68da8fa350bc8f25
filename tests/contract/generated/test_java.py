"""The Java client of openapi-generator: the unchanged code is compiled and run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import SCENARIOS
from .generators import generator_jar, openapi_generator

# Debian's packages libjakarta-annotation-api-java and libhttpmime-java install these files. The generator's
# own jar contains Jackson.
LIBRARIES = [
    Path("/usr/share/java") / f"{name}.jar"
    for name in ("jakarta-annotation-api", "httpclient", "httpmime", "httpcore", "commons-logging")
]
# `native` needs the fewest libraries besides the JDK. The client needs no type for explicit nulls
# (`openApiNullable`), because null and an absent field mean the same in all bodies of the API.
OPTIONS = ("--library", "native", "--additional-properties=openApiNullable=false,useJakartaEe=true")


def test_openapi_generators_java_compiles_and_plays_the_scenario(workshop):
    missing = [str(each) for each in LIBRARIES if not each.exists()]
    if missing or not shutil.which("javac"):
        pytest.skip(f"needs a JDK and {', '.join(missing) or 'nothing else'}")
    made = openapi_generator(workshop, "java", *OPTIONS)
    classes = workshop.folder / "classes"
    sources = [SCENARIOS / "Scenario.java", *(made / "src/main/java").rglob("*.java")]
    on_path = ":".join(map(str, [classes, generator_jar(), *LIBRARIES]))
    workshop.run("javac", "-nowarn", "-proc:none", "-cp", on_path, "-d", classes, *sources)
    workshop.play("java", "-cp", on_path, "Scenario")
