"""Bar charts as SVG, colored by the style sheet, each with a table of its numbers for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 640, 180
LEFT, TOP, BOTTOM = 40, 12, 28
MOST_LABELS = 12


@dataclass(frozen=True)
class Series:
    """A named list of numbers, with one number per label of the chart."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Bar:
    """The rectangle of a bar, and its tooltip."""

    x: float
    y: float
    width: float
    height: float
    series: int
    text: str


@dataclass(frozen=True)
class Mark:
    """A label below the bars or beside a grid line."""

    x: float
    y: float
    text: str


def bar_chart(title: str, labels: Sequence[str], series: Sequence[Series]) -> SafeString:
    """Render bars from zero upwards: for each label, one bar per series."""
    most = max((value for each in series for value in each.values), default=0)
    top = _rounded_up(most)
    step = (WIDTH - LEFT) / max(len(labels), 1)
    width = step * 0.8 / max(len(series), 1)
    floor = HEIGHT - BOTTOM
    bars = [
        Bar(
            x=round(LEFT + step * place + step * 0.1 + width * number, 1),
            y=round(floor - (floor - TOP) * value / top, 1),
            width=round(width, 1),
            height=round((floor - TOP) * value / top, 1),
            series=number + 1,
            text=f"{labels[place]}: {value:g} {each.name}",
        )
        for number, each in enumerate(series)
        for place, value in enumerate(each.values)
        if value
    ]
    every = -(-len(labels) // MOST_LABELS)
    context = {
        "title": title,
        "summary": "; ".join(f"{each.name}: {sum(each.values):g} in all" for each in series),
        "series": [(number + 1, each) for number, each in enumerate(series)],
        "bars": bars,
        "lines": [
            Mark(LEFT, round(floor - (floor - TOP) * part, 1), f"{top * part:g}") for part in (0, 0.5, 1)
        ],
        "labels": [
            Mark(round(LEFT + step * (place + 0.5), 1), HEIGHT - 8, label)
            for place, label in enumerate(labels)
            if place % every == 0
        ],
        "rows": [(label, [each.values[place] for each in series]) for place, label in enumerate(labels)],
        "width": WIDTH,
        "height": HEIGHT,
    }
    return render_to_string("ui/chart.html", context)


def _rounded_up(most: float) -> float:
    """Round up to the top of the scale: 2, 4, 10, 20, 40, 100, …"""
    top = 2.0
    while top < most:
        top = top * 2.5 if str(top)[0] == "4" else top * 2
    return top
