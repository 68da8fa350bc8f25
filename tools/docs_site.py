"""The build of the documents' site, which the service serves below /docs/ (docs/adr/0027).

    python -m tools.docs_site [--strict]

Zensical reads one folder of pages. This module copies docs/ and some documents outside of docs/ into a
temporary folder, and changes the parts of their Markdown that GitHub and Zensical render differently. It
needs only the packages of requirements/docs.txt.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "zensical.toml"
OUTSIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "deploy/README.md",
    "tools/clients/python/README.md",
    "tools/clients/typescript/README.md",
)
"""The documents outside of docs/ that are also pages of the site."""

LANGUAGES = {"sh": "curl", "python": "Python", "ts": "TypeScript"}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|[/#])([^)#\s]+)(#[^)\s]*)?\)")
FENCES = re.compile(r"(?:^```(?:sh|python|ts)\n(?:(?!```).*\n)*```\n+){2,}", re.MULTILINE)
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
THEMES = {"default": "light", "dark": "dark"}
COLUMN, LEGIBLE = 680, 0.58
"""The width of a page's text in pixels, and the least scale at which people can read a diagram."""
SIZE_OF_SVG = re.compile(r'viewBox="\S+ \S+ ([\d.]+) ')
ITEM = re.compile(r"(?:[-*]|\d+\.) +")
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)#\s]+)\.png\)$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+)\n((?:(?!```).*\n)*)```\n", re.MULTILINE)


def build(target: Path, *, strict: bool) -> int:
    """Build the site into this folder, and return Zensical's exit code. An earlier site is replaced."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".docs-") as folder:
        work = Path(folder)
        shutil.copy2(CONFIG, work)
        shutil.copytree(ROOT / "docs/images", work / "docs/images")
        shutil.copy2(ROOT / "docs/styles.css", work / "docs")
        for name, text in pages():
            page = work / "docs" / name
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(with_diagrams(text, page), encoding="utf-8")
        command = [sys.executable, "-m", "zensical", "build", *(["--strict"] if strict else [])]
        code = subprocess.run(command, cwd=work, env={**os.environ, "NO_COLOR": "1"}, check=False).returncode
        if code == 0:
            replace(target, work / "site")
    return code


def replace(target: Path, built: Path) -> None:
    """Move the built site to `target`. An earlier site at `target` is moved away first."""
    if target.exists():
        target.rename(built.with_name("old"))
    built.rename(target)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name of each page in the site, and its text."""
    sources = {path.relative_to(ROOT / "docs").as_posix(): path for path in (ROOT / "docs").rglob("*.md")}
    sources |= {name: ROOT / name for name in OUTSIDE}
    names = {path: name for name, path in sources.items()}
    for name, path in sorted(sources.items()):
        text = path.read_text(encoding="utf-8")
        text = with_nested_blocks(with_links(text, path, name, names))
        yield name, with_tabs(with_dark_pictures(text, path))


def with_links(text: str, path: Path, name: str, names: dict[Path, str]) -> str:
    """Change links to documents into links to pages. A link to a file without a page becomes plain text."""

    def pointed(found: re.Match[str]) -> str:
        label, link, fragment = found[1], found[2], found[3] or ""
        leads_to = (path.parent / link).resolve()
        if leads_to.is_dir():
            leads_to /= "README.md"
        if leads_to not in names:
            return label
        return f"[{label}]({os.path.relpath(names[leads_to], Path(name).parent)}{fragment})"

    return LINK.sub(pointed, text)


def with_nested_blocks(text: str) -> str:
    """Indent the further lines of a list item by four spaces: with fewer spaces, Zensical ends the item."""
    lines, width, in_code = [], 0, False
    for line in text.splitlines(keepends=True):
        item = None if in_code else ITEM.match(line)
        if item:
            width = len(item[0])
        elif width and line.startswith(" " * width):
            line = "    " + line[width:]
        elif line.strip():
            width = 0
        if line.startswith("```"):
            in_code = not in_code
        lines.append(line)
    return "".join(lines)


def with_dark_pictures(text: str, path: Path) -> str:
    """Make pages show `x-dark.png` instead of `x.png` on a dark screen, if `x-dark.png` exists."""

    def both(found: re.Match[str]) -> str:
        label, picture = found[1], found[2]
        if not (path.parent / f"{picture}-dark.png").exists():
            return found[0]
        return f"![{label}]({picture}.png#only-light)\n![{label}]({picture}-dark.png#only-dark)"

    return PICTURE.sub(both, text)


def with_tabs(text: str) -> str:
    """Turn consecutive code blocks in different languages into tabs."""

    def tabs(found: re.Match[str]) -> str:
        blocks = FENCE.findall(found[0])
        if len({language for language, _ in blocks}) < len(blocks):
            return found[0]
        return "\n".join(tab(language, code) for language, code in blocks) + "\n"

    return FENCES.sub(tabs, text)


def with_diagrams(text: str, page: Path) -> str:
    """Draw each Mermaid diagram as two pictures beside the page, for a light and a dark screen."""

    def drawn(found: re.Match[str]) -> str:
        import mermaidx  # import mermaidx here: the import takes half a second, and only diagrams need it

        number, shown = text.count("```mermaid", 0, found.start()) + 1, []
        for theme, screen in THEMES.items():
            picture = page.with_name(f"{page.stem}-{number}-{screen}.svg")
            directive = f"%%{{init: {{'theme': '{theme}'}}}}%%"
            mermaidx.render(f"{directive}\n{found[1]}").save(str(picture))
            width = shown_width(picture.read_text(encoding="utf-8"))
            shown.append(f'![Diagram]({picture.name}#only-{screen}){{ width="{width}" }}')
        return "\n".join(shown) + "\n"

    return DIAGRAM.sub(drawn, text)


def shown_width(svg: str) -> int:
    """Return the width of a diagram: at most the width of the text, or more to stay legible."""
    size = SIZE_OF_SVG.search(svg)
    natural = float(size[1]) if size else COLUMN
    return round(min(natural, max(COLUMN, LEGIBLE * natural)))


def tab(language: str, code: str) -> str:
    """Return the Markdown of one tab with a code block."""
    lines = "".join(f"    {line}" if line.strip() else line for line in code.splitlines(keepends=True))
    return f'=== "{LANGUAGES[language]}"\n\n    ```{language}\n{lines}    ```\n'


def main() -> int:
    """Build the site into DATA_DIR."""
    # SIGTERM raises SystemExit, so that a stopped build removes its temporary folder.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    data_dir = Path(os.environ.get("DATA_DIR") or ROOT / "var")
    return build(data_dir / "docs", strict="--strict" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
