"""The check of an uploaded logo, and its conversion to the printed size."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError

if TYPE_CHECKING:
    from PIL import Image

MOST_BYTES = 1024**2
MOST_PIXELS = 4_000
PRINTED_PIXELS = (800, 800)
DAMAGED = (OSError, SyntaxError, ValueError, TypeError, struct.error)
"""The errors of Pillow for damaged pixels. Tags of a wrong type in a photo cause the last two."""
KINDS = {
    b"GIF8": "a GIF",
    b"RIFF": "a WebP",
    b"BM": "a bitmap",
    b"II*\0": "a TIFF",
    b"MM\0*": "a TIFF",
    b"%PDF": "a PDF",
    b"<svg": "an SVG",
    b"<?xml": "an SVG or another XML file",
}


def stored_logo(content: bytes) -> bytes:
    """Convert the uploaded PNG or JPEG to the PNG on the slips. Raises ValidationError with the reason."""
    if len(content) > MOST_BYTES:
        raise ValidationError(f"The logo has {len(content):,} bytes. Upload one of at most 1 MB.")
    from PIL import Image, ImageOps  # import late: only uploads of logos need Pillow

    image = _opened(content)
    # The header of the file contains the size, so no pixels are decoded before this check.
    if max(image.size) > MOST_PIXELS:
        width, height = image.size
        raise ValidationError(
            f"The logo has {width} × {height} pixels. Upload one with at most {MOST_PIXELS:,} on each side."
        )
    try:
        image.draft("RGB", PRINTED_PIXELS)
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    except DAMAGED as error:
        raise ValidationError("The image is damaged: its pixels cannot be read. Export it again.") from error
    upright.thumbnail(PRINTED_PIXELS)
    printed = Image.new("RGB", upright.size, "white")
    printed.paste(upright, mask=upright)
    png = BytesIO()
    printed.save(png, "PNG", optimize=True)
    return png.getvalue()


def _opened(content: bytes) -> Image.Image:
    from PIL import Image, UnidentifiedImageError  # import late: only uploads of logos need Pillow

    try:
        return Image.open(BytesIO(content), formats=("PNG", "JPEG"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        start = content.lstrip()[:8]
        kind = next((name for begin, name in KINDS.items() if start.startswith(begin)), "no image")
        raise ValidationError(f"The file is {kind}. Upload a PNG or a JPEG.") from error
