"""The generator's command line: `python -m tools.clients.generator openapi.json python|typescript folder`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.clients.generator import asynchronous, python, typescript
from tools.clients.generator.document import Document


def main(source: Path, language: str, folder: Path) -> None:
    """Write the generated files of a language."""
    document = Document(json.loads(source.read_text(encoding="utf-8")))
    writer, ending = (python, "py") if language == "python" else (typescript, "ts")
    (folder / f"models.{ending}").write_text(writer.models(document), encoding="utf-8")
    (folder / f"operations.{ending}").write_text(writer.operations(document), encoding="utf-8")
    if language == "python":
        asynchronous.write_twins(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
