"""A mapped file in SQL: for each field an expression over the staging table's columns, `s`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.pipeline.columns import BLANKS, Column, Pairs, RowRule, Style, about, text
from imports.pipeline.expression_parser import parse_value
from imports.pipeline.expressions import Assignment
from imports.pipeline.header_binding import Binding, Bound
from imports.report_format import FORMULA_SQL


@dataclass
class MappedFile:
    """What a file fills, as SQL. `values` are typed; `joins` are the steps of the math transformer."""

    columns: Mapping[str, Column]
    bound: Bound
    assignments: list[Assignment]
    # How many columns our own error report put first; then cells that it made harmless are as before again.
    own: int = 0
    styles: dict[str, Style] = field(default_factory=dict)
    values: dict[str, Composable] = field(init=False)
    joins: Composable = field(init=False)

    def __post_init__(self) -> None:
        self.values = {name: self._value(name) for name in self.bound.fields}
        steps = [self._step(place, each) for place, each in enumerate(self.assignments)]
        self.joins = SQL(" ").join(steps)

    @property
    def fields(self) -> list[str]:
        return list(self.values)

    def raw(self, index: int) -> Composable:
        """A cell's text without blanks around it, never NULL."""
        cell = SQL("coalesce(btrim(s.{}, {}), '')").format(Identifier(f"c{index}"), Literal(BLANKS))
        if self.own:
            return SQL("CASE WHEN {0} ~ {1} AND {0} LIKE '''%%' THEN substr({0}, 2) ELSE {0} END").format(
                cell, Literal(FORMULA_SQL)
            )
        return cell

    def untouched(self, name: str) -> Composable | None:
        """The column that fills a field exactly as the file has it, where nothing is done to it."""
        bindings = self.bound.fields.get(name, [])
        entry = bindings[0].entry if len(bindings) == 1 else None
        if entry is None or self.own or entry.string_transformer or entry.split_by_character:
            return None
        return SQL("s.{}").format(Identifier(f"c{bindings[0].index}"))

    def cell(self, name: str) -> Composable:
        """The text that fills a field, as a message shows it."""
        bindings = self.bound.fields.get(name)
        return self._text(bindings[0]) if bindings else SQL("''")

    def _text(self, binding: Binding) -> Composable:
        cell = self.raw(binding.index)
        transformed = TRANSFORMED[binding.entry.string_transformer].format(cell)
        split = binding.entry.split_by_character
        if split:
            return SQL("replace({}, {}, '|')").format(transformed, Literal(split))
        return transformed

    def _value(self, name: str) -> Composable:
        column, bindings = self.columns[name], self.bound.fields[name]
        if isinstance(column, Pairs):
            return self._pairs(column, bindings)
        cell = self._text(bindings[0])
        if len(bindings) > 1:
            parts = SQL(", ").join(SQL("nullif({}, '')").format(self._text(each)) for each in bindings)
            cell = SQL("concat_ws('|', {})").format(parts)
        value = column.value(cell, self.styles.get(name, Style()), self.untouched(name))
        transformer = bindings[0].entry.math_transformer
        if transformer:
            computed = parse_value(transformer).sql({"value": SQL("value")})
            return SQL(
                "(SELECT CASE WHEN value IS NOT NULL THEN {} END FROM (SELECT {} OFFSET 0) AS v (value))"
            ).format(rounded(computed, column), value)
        return value

    def _pairs(self, column: Pairs, bindings: list[Binding]) -> Composable:
        rows = SQL(" UNION ALL ").join(
            SQL("SELECT {}, part.place, {}::text, btrim(part.value) FROM {}").format(
                Literal(place),
                Literal(binding.entry.subtype),
                SQL(
                    "string_to_table({}, '|') WITH ORDINALITY AS part (value, place)"
                    if binding.entry.split_by_character
                    else "(SELECT {}, 1) AS part (value, place)"
                ).format(self._text(binding)),
            )
            for place, binding in enumerate(bindings)
        )
        return SQL(
            "(SELECT coalesce(jsonb_agg(jsonb_build_object({key}, name, 'value', value)"
            " ORDER BY place, part), '[]') FROM ({rows}) AS p (place, part, name, value) WHERE value <> '')"
        ).format(key=Literal(column.key), rows=rows)

    def _step(self, place: int, assignment: Assignment) -> Composable:
        """One assignment as a step of its own: what it computed is not computed again where it is used."""
        result = Identifier(f"m{place}")
        computed = assignment.tree.sql(self.values)
        self.values[assignment.field] = SQL("{}.value").format(result)
        # OFFSET 0 keeps the planner from pulling the step up and repeating it.
        return SQL("CROSS JOIN LATERAL (SELECT {} AS value OFFSET 0) AS {}").format(
            rounded(computed, self.columns[assignment.field]), result
        )

    def rules(self) -> list[tuple[str, RowRule]]:
        """What can be wrong with each field, over the typed columns of a batch, `b`."""
        found = []
        for name in self.values:
            column, value, cell = self.columns[name], SQL("b.{}").format(Identifier(name)), self.cell(name)
            sentence = self._not_computable(name, cell)
            covered = ["not_a_number"] if sentence else []
            if sentence:
                condition = SQL("{} = 'NaN'").format(value)
                found.append((column.name, RowRule(condition, "not_computable", sentence)))
            found += [(column.name, each) for each in column.rules(value, cell) if each.code not in covered]
        return found

    def _not_computable(self, name: str, cell: Composable) -> Composable | None:
        """What to say where a field that is computed comes to nothing; None for one that is not computed."""
        if any(name == each.field for each in self.assignments):
            return text(f"{name} cannot be computed by math_transformer for this row.")
        if any(each.entry.math_transformer for each in self.bound.fields[name]):
            return about(cell, f"math_transformer cannot compute {name} from it.")
        return None

    def suspects(self) -> Composable:
        """A cheap condition that holds for every row of a batch that breaks one of these rules."""
        tests: list[Composable] = []
        for name in self.values:
            column, value = self.columns[name], SQL("b.{}").format(Identifier(name))
            suspect = column.suspect(value)
            tests += [suspect] if suspect else [each.condition for each in column.rules(value, value)]
        return SQL(" OR ").join(SQL("({})").format(test) for test in tests)


TRANSFORMED = {
    "": SQL("{}"),
    "uppercase": SQL("upper({})"),
    "lowercase": SQL("lower({})"),
    "capitalize": SQL(
        "(SELECT coalesce(string_agg(upper(left(word, 1)) || substr(word, 2), ' ' ORDER BY place), '')"
        " FROM string_to_table({}, ' ') WITH ORDINALITY AS w (word, place))"
    ),
    "capitalize-first": SQL("(SELECT upper(left(t, 1)) || substr(t, 2) FROM (SELECT {}) AS c (t))"),
}


def rounded(computed: Composable, column: Column) -> Composable:
    """A result rounded half up to its column's scale; NaN where there is none, or it is out of all bounds."""
    decimals = Literal(getattr(column, "decimals", 4))
    return SQL(
        "(SELECT CASE WHEN abs(r) < 1e15 THEN round(r, {}) ELSE 'NaN' END FROM (SELECT {} OFFSET 0) AS c (r))"
    ).format(decimals, computed)
