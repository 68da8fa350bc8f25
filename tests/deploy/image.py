"""A builder that follows deploy/Containerfile in a folder, without a container runtime.

Steps for the base image (Debian packages, an account) are left out and recorded. Absolute paths of the image
become paths below the folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.architecture.sources import ROOT

CONTAINERFILE = ROOT / "deploy/Containerfile"
IMAGE_PATH = re.compile(r"(?<![\w.$}/-])/(?=(?:opt|uploads|backups|secrets|tmp|run|nonexistent)\b)")
OF_BASE_IMAGE = ("apt-get ", "rm -rf /var/lib/apt/lists/", "useradd ")


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each instruction."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        name, _, rest = line.partition(" ")
        yield name, rest.strip()


class IgnoreRules:
    """The rules of an ignore file: the last rule that matches a path decides."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        self._rules = [self._rule(line) for line in lines if line and not line.startswith("#")]

    @staticmethod
    def _rule(line: str) -> tuple[re.Pattern[str], bool]:
        wanted = line.startswith("!")
        parts = re.split(r"(\*\*/|\*)", line.removeprefix("!").strip("/"))
        known = {"**/": "(?:.*/)?", "*": "[^/]*"}
        return re.compile("".join(known.get(part) or re.escape(part) for part in parts)), wanted

    def take(self, path: str) -> bool:
        """Return whether this file gets into the image."""
        folders = path.split("/")
        names = ["/".join(folders[: number + 1]) for number in range(len(folders))]
        taken = True
        for pattern, wanted in self._rules:
            if any(map(pattern.fullmatch, names)):
                taken = wanted
        return taken


@dataclass
class Image:
    """A root file system, with the settings that a container starts with."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    workdir: Path = Path("/")
    user: str = "root"
    entrypoint: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def build(self, context: Path) -> None:
        """Follow the Containerfile; `context` is the folder that is sent to the builder."""
        arguments: dict[str, str] = {}
        for name, text in instructions((context / "deploy/Containerfile").read_text()):
            match name:
                case "ARG":
                    key, _, value = text.partition("=")
                    arguments[key] = value
                case "FROM":
                    self._begin(re.sub(r"\$\{(\w+)\}", lambda found: arguments[found[1]], text))
                case "WORKDIR":
                    self.workdir = Path(self.below(text))
                    self.workdir.mkdir(parents=True)
                case "COPY":
                    self._copy(context, text)
                case "ENV":
                    pairs = (word.partition("=") for word in shlex.split(self.below(text)))
                    self.environment |= {key: value for key, _, value in pairs}
                case "RUN":
                    self._run(text)
                case "USER":
                    self.user = text
                case "ENTRYPOINT":
                    self.entrypoint = json.loads(text)
                case "VOLUME":
                    assert all(Path(self.below(path)).is_dir() for path in text.split())
                case "EXPOSE" | "CMD":
                    pass
                case _:
                    raise AssertionError(f"{name} is not known here")

    def below(self, text: str) -> str:
        """Return a text in which each absolute path is replaced by a path below the folder."""
        return IMAGE_PATH.sub(f"{self.root}/", text)

    def _begin(self, base: str) -> None:
        self.left_out.append(f"FROM {base}")
        subprocess.run([sys.executable, "-m", "venv", str(self.root / "python")], check=True)
        (self.root / "tmp").mkdir()
        self.environment["PATH"] = f"{self.root / 'python/bin'}:{os.defpath}"

    def _copy(self, context: Path, text: str) -> None:
        source, target = text.split()
        rules = IgnoreRules((context / ".containerignore").read_text())
        for path in [context / source] if source != "." else sorted(context.rglob("*")):
            name = path.relative_to(context).as_posix()
            if path.is_file() and rules.take(name):
                copy = self.workdir / target / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy)

    def _run(self, text: str) -> None:
        for step in text.split(" && "):
            if step.startswith(OF_BASE_IMAGE):
                self.left_out.append(step)
                continue
            step = self.below(step.replace("-o exchange ", ""))  # this machine has no such account
            subprocess.run(["sh", "-c", step], check=True, cwd=self.workdir, env=self._builders())

    def _builders(self) -> dict[str, str]:
        """Return the environment of a build step: the image's variables, and this machine's pip settings."""
        pip = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "HOME", "SSL_"))}
        return {**pip, **self.environment}

    def start(
        self, name: str, command: list[str], environment: Mapping[str, str], programs: Path
    ) -> subprocess.Popen[bytes]:
        """Start a container's command; `programs` has the client programs of PostgreSQL."""
        return subprocess.Popen(
            [*self.entrypoint, *map(self.below, command)],
            cwd=self.workdir,
            env=self.of_container(name, environment, programs),
            start_new_session=True,
        )

    def of_container(self, name: str, environment: Mapping[str, str], programs: Path) -> dict[str, str]:
        """Return the environment of a container: it has its own /tmp, and no variable of this process."""
        own = self.root / "tmp" / name
        own.mkdir(exist_ok=True)
        merged = {**self.environment, **{key: self.below(value) for key, value in environment.items()}}
        moved = {key: value.replace(f"{self.root}/tmp", str(own)) for key, value in merged.items()}
        return {**moved, "PATH": f"{self.environment['PATH']}:{programs}", "TMPDIR": str(own)}


def clone(folder: Path) -> Path:
    """Copy the files that git tracks or would add, as the builder's context. Return the folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, copy = ROOT / name, folder / name
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    return folder
