"""The changes that an entry of a mapping makes to a cell's text, in SQL."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.columns import A_URL, BLANKS, Pairs
from imports.pipeline.header_binding import Binding
from imports.pipeline.mapping import MappingEntry
from imports.pipeline.row_shape import CellsSql
from imports.shop_exports.export import LEAVE_OUT

# The words for each option type in files, in several languages.
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "color": ("color", "colour", "farbe", "couleur", "kleur", "colore"),
    "size": ("size", "größe", "groesse", "taille", "talla", "tamaño", "maat", "taglia"),
    "width": ("width", "breite", "weite", "largeur", "ancho", "breedte", "larghezza"),
}

TRANSFORMED = {
    "": SQL("{}"),
    "uppercase": SQL("upper({})"),
    "lowercase": SQL("lower({})"),
    "capitalize": SQL(
        "(SELECT coalesce(string_agg(part[1] || upper(part[2]) || part[3], '' ORDER BY place), '')"
        r" FROM regexp_matches({}, '([\s\u00a0]*)([^\s\u00a0]?)([^\s\u00a0]*)', 'g')"
        " WITH ORDINALITY AS w (part, place))"
    ),
    "capitalize-first": SQL("(SELECT upper(left(t, 1)) || substr(t, 2) FROM (SELECT {}) AS c (t))"),
}


def transforms(entry: MappingEntry) -> bool:
    """Return whether an entry changes the text of a cell."""
    return bool(entry.string_transformer or entry.split_by_character or entry.values or entry.relative_urls)


def is_single(binding: Binding) -> bool:
    """Return whether each cell of a column holds at most one option or property."""
    return not (binding.entry.split_by_character or binding.entry.name_separator)


def absolute_urls(cell: Composable, base: str) -> Composable:
    """Return the URLs of a cell, separated by |.

    Put `base` before each relative URL. If `base` is LEAVE_OUT, leave out relative URLs.
    """
    absolute = SQL("part ~* '^https?://'")
    if base == LEAVE_OUT:
        shown: Composable = SQL("part")
        kept: Composable = SQL("part <> '' AND {}").format(absolute)
    else:
        shown = SQL("CASE WHEN {} THEN part ELSE {} || ltrim(part, '/') END").format(
            absolute, Literal(f"{base.rstrip('/')}/")
        )
        kept = SQL("part <> ''")
    return SQL(
        "CASE WHEN {cell} = '' THEN '' ELSE (SELECT coalesce(string_agg({shown}, '|' ORDER BY place), '')"
        " FROM regexp_split_to_table({cell}, '[|,[:space:]]+') WITH ORDINALITY AS u (part, place)"
        " WHERE {kept}) END"
    ).format(cell=cell, shown=shown, kept=kept)


def each_once(urls: Composable) -> Composable:
    """Return URLs without duplicates, separated by |; the input may be separated by |, commas or blanks.

    Texts that are no URLs are left out.
    """
    blanks = Literal(BLANKS)
    odd = SQL(
        "(SELECT btrim(part, {}), place FROM regexp_split_to_table(whole, '[|,[:space:]]+')"
        " WITH ORDINALITY AS p (part, place)) AS u (part, place)"
    ).format(blanks)
    usual = SQL("string_to_table(whole, '|') WITH ORDINALITY AS u (part, place)")
    return SQL(
        "(SELECT CASE WHEN whole ~ {} THEN {} WHEN strpos(whole, '|') > 0 THEN {}"
        " WHEN whole ~* {} THEN whole ELSE '' END"
        " FROM (SELECT {} OFFSET 0) AS w (whole))"
    ).format(Literal(f"[,[:space:]{BLANKS}]"), _unique(odd), _unique(usual), Literal(A_URL), urls)


def _unique(urls: Composable) -> Composable:
    return SQL(
        "(SELECT coalesce(string_agg(part, '|' ORDER BY place), '') FROM"
        " (SELECT part, min(place) AS place FROM {} WHERE part ~* {} GROUP BY part) AS once)"
    ).format(urls, Literal(A_URL))


def single_pair(column: Pairs, binding: Binding, cell: Composable, named_by: Composable | None) -> Composable:
    """Return SQL for a column's name and value as a JSON object; NULL if the name or the value is empty.

    Each text is computed once and without a subquery, because a file has several such columns.
    """
    if named_by is None:
        begin: Composable = Literal(f'{{"{column.key}": {json.dumps(binding.entry.subtype)}, "value": ')
    else:
        begin = SQL("{} || to_json(nullif({}, ''))::text || ', \"value\": '").format(
            Literal(f'{{"{column.key}": '), _sorted(column, named_by)
        )
    return SQL("{} || to_json(nullif(btrim({}), ''))::text || '}}'").format(begin, cell)


def pairs_of(
    column: Pairs,
    place: int,
    binding: Binding,
    cell: Composable,
    named_by: Composable | None,
    cells: CellsSql,
) -> Composable:
    """Return a query that splits a cell into options or properties, with one row for each.

    A row has the position of the column (`place`), the position in the cell, the name and the value. A name
    from the mapping is used unchanged. A name from the file is sorted by `_sorted`: colors, sizes and widths
    are options, and all other names are properties.
    """
    entry = binding.entry
    name: Composable = SQL("{}::text").format(Literal(entry.subtype))
    parts: Composable = SQL("(SELECT {}, 1) AS part (value, place)").format(cell)
    if entry.name_separator:
        # `color=Blue,activity=Gym|Hiking`: each pair may have several values, quoted or not.
        parts = SQL(
            "(SELECT split_part(pair, {named}, 1), regexp_replace(each, '^\"(.*)\"$', '\\1'),"
            " place * 1000 + at"
            " FROM regexp_split_to_table({cell}, {split}) WITH ORDINALITY AS l (pair, place),"
            " string_to_table(substr(pair, strpos(pair, {named}) + length({named})), '|')"
            " WITH ORDINALITY AS v (each, at) WHERE strpos(pair, {named}) > 0) AS part (name, value, place)"
        ).format(
            cell=cell,
            named=Literal(entry.name_separator),
            split=Literal(_between_pairs(entry.split_by_character, entry.name_separator)),
        )
        name = _sorted(column, SQL("btrim(part.name)"))
    else:
        if entry.split_by_character:
            parts = SQL("string_to_table({}, '|') WITH ORDINALITY AS part (value, place)").format(cell)
        if named_by is not None:
            name = _sorted(column, named_by)
    value = cells.without_empty(SQL("btrim(part.value)"))
    return SQL("SELECT {}, part.place, {}, {} FROM {}").format(Literal(place), name, value, parts)


def _between_pairs(split: str, named: str) -> str:
    """Return the regular expression that splits `a=1,b=2`: a separator followed by a name."""
    if not split:
        return r"\Zx"  # this pattern never matches
    split, named = re.escape(split), re.escape(named)
    return f"{split}(?=((?!{split}|{named}).)*{named})"


def _sorted(column: Pairs, name: Composable) -> Composable:
    """Return the type of an option, or the name of a property, in SQL.

    The result is empty for a property in a column of options, and for an option in a column of properties.
    """
    known = SQL(" ").join(
        SQL("WHEN {} THEN {}").format(Literal(word), Literal(option if column.choices else ""))
        for option, words in SPELLINGS.items()
        for word in words
    )
    return SQL("CASE lower({}) {} ELSE {} END").format(name, known, SQL("''") if column.choices else name)
