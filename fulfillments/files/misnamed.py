"""The refusal of tracking files if a column for lines or quantities has an unknown name.

Without `line_id`, `sku` and `quantity`, a row means all open units. So a column that probably limits the
units must not be ignored (docs/adr/0044). Other unknown columns are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from api.spelling import closest_match
from imports.pipeline.errors import Unreadable

LINE_FIELDS = ("line_id", "sku")
# The words for a quantity and for a line, in the languages of packing slips.
QUANTITY_WORDS = frozenset(
    (
        *("quantity", "qty", "units", "pcs", "pieces", "menge", "anzahl", "stück", "stk", "quantité", "qté"),
        *("unités", "pièces", "cantidad", "unidades", "piezas", "quantità", "qta", "unità", "pezzi"),
        *("aantal", "stuks", "ilość", "szt", "sztuk"),
    )
)
LINE_WORDS = frozenset(
    (
        *("line", "lines", "item", "items", "article", "product", "variant", "skus", "upc", "ean", "gtin"),
        *(
            "sku",
            "barcode",
            "title",
            "position",
            "pos",
            "zeile",
            "artikel",
            "produkt",
            "ligne",
            "produit",
            "línea",
        ),
        *("artículo", "producto", "riga", "articolo", "prodotto", "regel", "wiersz", "pozycja"),
    )
)


def refuse_misnamed(read: Collection[str], ignored: Iterable[str]) -> None:
    """Raise Unreadable if an ignored column may hold the line or the quantity, and no known column does."""
    for name in ignored:
        if "quantity" not in read and _means(name, QUANTITY_WORDS, ("quantity",)):
            raise _misnamed(name, "quantity", "a row means all open units of its line")
        if not any(field in read for field in LINE_FIELDS) and _means(name, LINE_WORDS, LINE_FIELDS):
            raise _misnamed(name, "line_id or sku", "a row means all lines of its fulfillment")


def _means(name: str, words: frozenset[str], fields: tuple[str, ...]) -> bool:
    spelled = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())
    return not words.isdisjoint(spelled) or closest_match("_".join(filter(None, spelled)), fields) is not None


def _misnamed(name: str, field: str, otherwise: str) -> Unreadable:
    return Unreadable(
        "misnamed_column",
        f"The column {name[:100]!r} is not read, but it may stand for {field}: without that, {otherwise}. "
        f"Rename the column to {field}, or remove it. No row was carried out.",
    )
