"""The shell commands of a document, run as a reader would paste them, and the answers that it shows."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.shown_answers import differences, differences_of_text, documents, shown_documents

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
BETWEEN = "@@ the next block @@"


@dataclass
class Step:
    """A shell block of a page, and the answer that the page shows below the block, as JSON or as text."""

    commands: str
    answer: str | None = None
    is_json: bool = False

    def differences(self, output: str) -> Iterator[str]:
        """Yield the differences between the output and the answer of the page."""
        if self.answer is None:
            return
        if not self.is_json:
            yield from differences_of_text(self.answer, output)
            return
        shown, answered = shown_documents(self.answer), documents(output)
        if len(shown) != len(answered):
            yield f"{len(answered)} answers, not {len(shown)}: {output}"
        for one, other in zip(shown, answered, strict=False):
            yield from differences(one, other)


def steps(page: str) -> list[Step]:
    """Return the shell blocks of a page, each with the JSON or text block that directly follows, if any."""
    text, found, end = (ROOT / page).read_text(encoding="utf-8"), [], 0
    for fence in FENCE.finditer(text):
        language, content = fence[1], fence[2]
        follows = not text[end : fence.start()].strip()
        end = fence.end()
        if language == "sh":
            found.append(Step(content))
        elif language in ("json", "text") and follows and found and found[-1].answer is None:
            found[-1].answer, found[-1].is_json = content, language == "json"
    return found


def commands(page: str) -> str:
    """Return a script with all shell blocks of a page. Add the demo's variables if no block does."""
    script = f'echo "{BETWEEN}"\n'.join(step.commands for step in steps(page))
    return script if "eval" in script else f'eval "$(python3 tools/demo/shell_variables.py)"\n{script}'


def wrong_answers(page: str, output: str) -> list[str]:
    """Return the differences between the output of the commands and the answers that the page shows."""
    outputs = output.split(f"{BETWEEN}\n")
    return [
        f"{step.commands.splitlines()[0]}: {difference}"
        for step, own in zip(steps(page), outputs, strict=True)
        for difference in step.differences(own)
    ]


def code(page: str, language: str) -> str:
    """Return the page's blocks in Python or TypeScript, joined to one program."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return "".join(content for name, content in FENCE.findall(text) if name == language)


def paste(script: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    """Run the script in bash, and return the ended process.

    `data_dir` is the folder with the demo.json of the service.
    """
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir), "NO_PROXY": "*"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
