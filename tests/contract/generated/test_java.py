"""A Java client, by openapi-generator: compiled as it comes, and run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import STORIES
from .generators import generator_jar, openapi_generator

# Debian's: libjakarta-annotation-api-java and libhttpmime-java. Jackson comes within the generator's own jar.
LIBRARIES = [
    Path("/usr/share/java") / f"{name}.jar"
    for name in ("jakarta-annotation-api", "httpclient", "httpmime", "httpcore", "commons-logging")
]
# The library that needs least beside the JDK; null and absent mean the same in every body of ours.
OPTIONS = ("--library", "native", "--additional-properties=openApiNullable=false,useJakartaEe=true")


def test_openapi_generators_java_compiles_and_plays_the_story(workshop):
    missing = [str(each) for each in LIBRARIES if not each.exists()]
    if missing or not shutil.which("javac"):
        pytest.skip(f"needs a JDK and {', '.join(missing) or 'nothing else'}")
    made = openapi_generator(workshop, "java", *OPTIONS)
    classes = workshop.folder / "classes"
    sources = [STORIES / "Story.java", *(made / "src/main/java").rglob("*.java")]
    on_path = ":".join(map(str, [classes, generator_jar(), *LIBRARIES]))
    workshop.run("javac", "-nowarn", "-proc:none", "-cp", on_path, "-d", classes, *sources)
    workshop.play("java", "-cp", on_path, "Story")
