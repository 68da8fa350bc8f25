"""Functions that read printed PDF files with independent programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

needs_pdftotext = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="pdftotext is missing; it is in poppler-utils"
)
needs_zbarimg = pytest.mark.skipif(
    shutil.which("zbarimg") is None or shutil.which("pdftoppm") is None,
    reason="zbarimg or pdftoppm is missing; they are in zbar-tools and poppler-utils",
)


def text_of(pdf: bytes) -> str:
    """Return the text of a PDF file with the layout of its pages. A form feed ends each page."""
    command = ["pdftotext", "-layout", "-", "-"]
    return subprocess.run(command, input=pdf, stdout=subprocess.PIPE, check=True).stdout.decode()


def barcodes_of(pdf: bytes) -> list[str]:
    """Return the barcodes of a PDF file as a scanner would read them, each as `kind:content`."""
    with TemporaryDirectory() as folder:
        subprocess.run(["pdftoppm", "-r", "200", "-gray", "-", f"{folder}/page"], input=pdf, check=True)
        pages = sorted(Path(folder).iterdir())
        command = ["zbarimg", "-q", *map(str, pages)]
        read = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return read.stdout.decode().splitlines()


def unspaced(text: str) -> str:
    """Return a text without blanks and direction marks.

    pdftotext adds these characters to scripts with joined letters, such as Arabic.
    """
    return "".join(each for each in text if each.isprintable() and not each.isspace())
