"""The states of a fulfillment as a picture, drawn from the table in fulfillments/states.py.

This module sets only the positions. Boxes, arrows and labels come from the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from accounts.actors import ActorKind
from fulfillments.states import MOVES, WORKABLE, Move, State

WIDTH, HEIGHT = 1000, 560
BOX = (150, 44)  # width and height of a state
GROUP = (30, 170, 510, 340)  # left, top, right, bottom of the frame around the workable states

POSITIONS = {
    State.OUT_OF_STOCK: (110, 60),
    State.MISSING_SKU: (300, 60),
    State.WRONG_ADDRESS: (700, 60),
    State.NEW: (125, 215),
    State.ACCEPTED: (410, 215),
    State.CANCELATION_NOT_ALLOWED: (268, 305),
    State.SHIPPED: (700, 255),
    State.CANCELING: (410, 470),
    State.CANCELED: (850, 470),
}
COLOURS = {
    State.SHIPPED: "#d8f0e2",
    State.CANCELED: "#e4e9e7",
    State.OUT_OF_STOCK: "#fbdcd7",
    State.MISSING_SKU: "#fbdcd7",
    State.WRONG_ADDRESS: "#fbdcd7",
    State.CANCELING: "#fbecd0",
    State.CANCELATION_NOT_ALLOWED: "#fbecd0",
}
# The label names the first of these actors that may make the move. Operators may make every move.
ACTORS = (ActorKind.SUPPLIER, ActorKind.RETAILER, ActorKind.OPERATOR)
# Points to bend towards, for arrows that would otherwise cross a box.
BENDS = {
    (State.WRONG_ADDRESS, State.NEW): (330, 130),
    (State.CANCELATION_NOT_ALLOWED, State.SHIPPED): (560, 330),
    (State.CANCELING, State.CANCELATION_NOT_ALLOWED): (300, 400),
    (State.WRONG_ADDRESS, State.CANCELED): (990, 200),
    (State.CANCELATION_NOT_ALLOWED, State.ACCEPTED): (400, 285),
}
# Positions of labels that would otherwise overlap.
LABELS = {
    (None, State.WRONG_ADDRESS): (600, 150),
    (State.WRONG_ADDRESS, State.NEW): (462, 104),
    (None, State.CANCELING): (492, 392),
    (State.CANCELING, State.CANCELATION_NOT_ALLOWED): (226, 412),
    (State.WRONG_ADDRESS, State.CANCELED): (900, 365),
    (State.SHIPPED, State.SHIPPED): (826, 286),
    (State.CANCELING, State.CANCELING): (204, 474),
    (State.ACCEPTED, State.SHIPPED): (565, 222),
    (State.CANCELATION_NOT_ALLOWED, State.SHIPPED): (572, 312),
}
# Moves that lead back to their source: the label of the loop, and the side of the box (1 is right).
AGAIN = {
    State.SHIPPED: ("one more parcel", 1),
    State.CANCELING: ("retailer: asks for more", -1),
}

Point = tuple[float, float]


@dataclass(frozen=True)
class Arrow:
    """One arrow of the picture. `source` is None for the frame around all workable states."""

    source: State | None
    target: State
    label: str


def arrows() -> list[Arrow]:
    """Return one arrow per move and source; moves from all workable states get a single arrow."""
    found: list[Arrow] = []
    for move in MOVES:
        grouped = set(WORKABLE) <= set(move.sources)
        sources = [source for source in move.sources if not (grouped and source in WORKABLE)]
        everywhere = [None] if grouped else []
        found += [Arrow(source, move.target, _label(move)) for source in [*everywhere, *sources]]
    return found


def svg() -> str:
    """Return the picture as an SVG document."""
    drawn = [_arrow(arrow) for arrow in arrows()]
    lines = [line for line, _ in drawn]
    labels = [label for _, label in drawn]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f"<title>The states of a fulfillment: {len(State)} states, {len(MOVES)} moves</title>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#5d6f69"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _frame(),
        *lines,
        *(_box(state) for state in State),
        *labels,
        _legend(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _label(move: Move) -> str:
    who = next((kind for kind in ACTORS if kind in move.by), None)
    return f"{who}: {move.name.replace('_', ' ')}" if who else move.name


def _frame() -> str:
    left, top, right, bottom = GROUP
    return (
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="12" fill="#f6f8f7" '
        f'stroke="#b9c6c1" stroke-dasharray="5 4"/>'
        f'<text x="{left + 14}" y="{bottom - 12}" font-size="12" fill="#5d6f69">work to do</text>'
    )


def _box(state: State) -> str:
    x, y = POSITIONS[state]
    width, height = _size(state)
    fill = COLOURS.get(state, "#dceafb")
    return (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width}" height="{height}" rx="9" '
        f'fill="{fill}" stroke="#5d6f69"/>'
        f'<text x="{x}" y="{y + 5}" font-size="14" font-weight="600" text-anchor="middle" fill="#1d2b26">'
        f"{escape(state.value)}</text>"
    )


def _size(state: State) -> tuple[int, int]:
    return (190, BOX[1]) if state == State.CANCELATION_NOT_ALLOWED else BOX


def _arrow(arrow: Arrow) -> tuple[str, str]:
    """Return the SVG of an arrow's line and of its label."""
    if arrow.source == arrow.target:
        return _loop(arrow)
    end = POSITIONS[arrow.target]
    start = POSITIONS[arrow.source] if arrow.source else _edge_of_group(end)
    bend = BENDS.get((arrow.source, arrow.target)) if arrow.source else None
    toward, back = bend or end, bend or start
    first = _border(arrow.source, toward) if arrow.source else start
    last = _border(arrow.target, back)
    middle = bend or ((first[0] + last[0]) / 2, (first[1] + last[1]) / 2)
    path = f"M{_at(first)} Q{_at(middle)} {_at(last)}" if bend else f"M{_at(first)} L{_at(last)}"
    line = f'<path d="{path}" fill="none" stroke="#5d6f69" stroke-width="1.5" marker-end="url(#head)"/>'
    at = LABELS.get((arrow.source, arrow.target), middle)
    return line, _text(at, arrow.label)


def _loop(arrow: Arrow) -> tuple[str, str]:
    label, side = AGAIN[arrow.target]
    x, y = POSITIONS[arrow.target]
    edge = x + side * _size(arrow.target)[0] / 2
    far = edge + side * 55
    path = f"M{edge:g} {y - 10:g} C{far:g} {y - 35:g} {far:g} {y + 35:g} {edge:g} {y + 10:g}"
    line = f'<path d="{path}" fill="none" stroke="#5d6f69" stroke-width="1.5" marker-end="url(#head)"/>'
    return line, _text(LABELS[arrow.target, arrow.target], label)


def _edge_of_group(target: Point) -> Point:
    """Return the point of the frame nearest to the target."""
    left, top, right, bottom = GROUP
    x = min(max(target[0], left + 20), right - 20)
    return (x, top) if target[1] < top else (x, bottom)


def _border(state: State, toward: Point) -> Point:
    """Return the point where the line from a box's center towards a point crosses the box's border."""
    (x, y), (width, height) = POSITIONS[state], _size(state)
    dx, dy = toward[0] - x, toward[1] - y
    scale = min(
        width / 2 / abs(dx) if dx else float("inf"),
        height / 2 / abs(dy) if dy else float("inf"),
    )
    return x + dx * scale, y + dy * scale


def _text(at: Point, text: str) -> str:
    halo = 'stroke="#ffffff" stroke-width="5" paint-order="stroke" stroke-linejoin="round"'
    return (
        f'<text x="{at[0]:.0f}" y="{at[1] + 4:.0f}" font-size="12" text-anchor="middle" fill="#37443f" '
        f"{halo}>{escape(text)}</text>"
    )


def _at(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _legend() -> str:
    notes = (
        "Operators may make every move on behalf of the others; the history shows who it was.",
        "Where only a part was shipped, refused or canceled, a fulfillment stays as it is while "
        "something is open, and is shipped when nothing is.",
    )
    return "".join(
        f'<text x="30" y="{HEIGHT - 28 + 16 * row}" font-size="12" fill="#5d6f69">{escape(note)}</text>'
        for row, note in enumerate(notes)
    )
