"""The steps of a release: a list of its packages, and base images by digest."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from tests.architecture.sources import ROOT

pytestmark = pytest.mark.program
DIGEST = f"sha256:{'0123456789abcdef' * 4}"


@pytest.mark.skipif(find_spec("cyclonedx_py") is None, reason="`make sbom` installs cyclonedx-bom")
def test_the_sbom_lists_each_locked_package_and_is_valid(tmp_path):
    made = tmp_path / "sbom.json"
    # The program validates its result with the schema of CycloneDX, and fails if it is invalid.
    recipe = subprocess.run(["make", "-n", "sbom", f"ARGS={made}"], cwd=ROOT, check=True, capture_output=True)
    (command,) = re.findall(r"-m cyclonedx_py .*", recipe.stdout.decode().replace("\\\n", ""))
    assert "--validate" in command
    subprocess.run([sys.executable, *command.split()], cwd=ROOT, check=True, capture_output=True)

    sbom = json.loads(made.read_text())
    locked = dict(
        re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^ ;\\]+)", (ROOT / "requirements.txt").read_text(), re.M)
    )
    assert {each["name"]: each["version"] for each in sbom["components"]} == locked
    assert sbom["bomFormat"] == "CycloneDX"
    assert sbom["metadata"]["component"]["name"] == "exchange"
    assert all(each["externalReferences"][0]["hashes"] for each in sbom["components"])


def refreshed(tmp_path: Path, answer: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run the script on a copy of deploy/, with a fake skopeo that prints this answer for each image.

    Return the finished process and the text of both files.
    """
    deploy, skopeo = shutil.copytree(ROOT / "deploy", tmp_path / "deploy"), tmp_path / "skopeo"
    skopeo.write_text(f"#!/bin/sh\necho '{answer}'\n")
    skopeo.chmod(0o755)
    done = subprocess.run(
        ["bash", str(deploy / "digests")],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, text_of(deploy)


def text_of(deploy: Path) -> str:
    return "".join((deploy / name).read_text() for name in ("compose.yaml", "Containerfile"))


def test_each_base_image_has_a_version_and_a_digest_and_both_files_name_the_same_python():
    named = r"docker\.io/library/(\w+):[\w.-]+(@sha256:[0-9a-f]{64}\b)?"
    images = re.findall(named, text_of(ROOT / "deploy"))
    assert all(digest for _, digest in images)
    assert sorted(name for name, _ in images) == ["caddy", "postgres", "python", "python", "redis"]
    assert len(set(images)) == 4


def test_the_present_digests_replace_the_old_ones(tmp_path):
    done, text = refreshed(tmp_path, DIGEST)
    assert done.returncode == 0, done.stderr
    assert text == re.sub("sha256:[0-9a-f]{64}", DIGEST, text_of(ROOT / "deploy"))


@pytest.mark.parametrize("answer", ["", "latest", DIGEST[:-1]])
def test_an_image_without_a_digest_keeps_its_old_one(tmp_path, answer):
    done, text = refreshed(tmp_path, answer)
    assert done.returncode == 1
    assert "no digest" in done.stderr
    assert text == text_of(ROOT / "deploy")


def test_a_commit_without_its_tag_is_no_release(tmp_path):
    clone = tmp_path / "clone"
    (clone / ".ci").mkdir(parents=True)
    for name in (".ci/release", "pyproject.toml", "CHANGELOG.md"):
        (clone / name).write_text((ROOT / name).read_text())
    subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    done = subprocess.run(["bash", ".ci/release"], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"Tag it v\d", done.stderr)


def test_the_service_its_documents_and_its_clients_have_one_version():
    clients = ROOT / "tools/clients"
    (of_python,) = re.findall(
        r'"(.+)"', (clients / "python/src/exchange_client/version.py").read_text().partition("=")[2]
    )
    found = {
        of_python,
        json.loads((clients / "typescript/package.json").read_text())["version"],
        json.loads((clients / "typescript/package-lock.json").read_text())["version"],
        settings.SPECTACULAR_SETTINGS["VERSION"],
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"],
    }
    assert len(found) == 1, found
    assert re.fullmatch(r"\d+\.\d+\.\d+", found.pop())


def test_the_workflows_run_scripts_and_targets_that_exist():
    workflows = [yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")]
    steps = [step for each in workflows for job in each["jobs"].values() for step in job["steps"]]
    commands = " ; ".join(step["run"] for step in steps if "run" in step)
    targets = {word for line in re.findall(r"make ([a-z ]+)", commands) for word in line.split()}
    makefile = (ROOT / "Makefile").read_text()

    assert targets >= {"lint", "test", "packages"}
    assert {target for target in targets if f"\n{target}:" not in makefile} == set()
    scripts = set(re.findall(r"bash (\S+)", commands))
    assert scripts == {".ci/run", ".ci/release"}
    assert all((ROOT / script).exists() for script in scripts)
