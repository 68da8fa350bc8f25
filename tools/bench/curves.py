"""A chart of curves as an SVG file: one line per operation, and the straight line of perfect scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 400, 50, 40, 50
COLORS = ("#1f6feb", "#b35900", "#2da44e", "#8250df")


def draw(title: str, counts: Sequence[int], curves: Mapping[str, Sequence[float]]) -> str:
    """Return the SVG. Each curve has one rate for each number of processes."""
    most = max(counts)

    def point(count: float, multiple: float) -> str:
        x = LEFT + (WIDTH - 2 * LEFT) * count / most
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(multiple / most, 1)
        return f"{x:.1f},{y:.1f}"

    lines = [_line("#8c959f", [point(0, 0), point(most, most)], dashed=True)]
    words = [_text(LEFT, 24, title)]
    words += [_text(*_xy(point(count, 0), 18), str(count)) for count in counts]
    words += [_text(10, _xy(point(0, count), 4)[1], str(count)) for count in counts]
    for color, (name, rates) in zip(COLORS, curves.items(), strict=False):
        points = [point(count, rate / rates[0]) for count, rate in zip(counts, rates, strict=True)]
        lines.append(_line(color, points))
        words.append(_text(LEFT + 20, TOP + 16 * len(lines), name, color))
    words.append(_text(WIDTH / 2 - 40, HEIGHT - 8, "processes"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        f' font-size="13"><rect width="100%" height="100%" fill="#fff"/>{"".join(lines + words)}</svg>\n'
    )


def _line(color: str, points: Sequence[str], *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 4"' if dashed else ""
    return f'<polyline fill="none" stroke="{color}" stroke-width="2"{dashes} points="{" ".join(points)}"/>'


def _text(x: float, y: float, words: str, color: str = "#24292f") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}">{escape(words)}</text>'


def _xy(point: str, below: float) -> tuple[float, float]:
    x, _, y = point.partition(",")
    return float(x), float(y) + below
