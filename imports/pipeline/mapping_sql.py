"""A mapped file in SQL: an expression over the staging table's columns, `s`, for each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg.sql import SQL, Composable, Identifier, Literal

from api.exporting.cells import FORMULA_SQL
from imports.pipeline.cell_texts import (
    TRANSFORMED,
    absolute_urls,
    each_once,
    is_single,
    pairs_of,
    single_pair,
    transforms,
)
from imports.pipeline.columns import BLANKS, FileColumn, Pairs, RowRule, Style, Urls, about, text
from imports.pipeline.expression_parser import parse_value
from imports.pipeline.expressions import Assignment
from imports.pipeline.header_binding import Binding, Bound
from imports.pipeline.row_shape import RowShape, TextPattern, built_field, trimmed
from imports.sql import joined

# The reject code of a parent row. A parent row describes a product whose variants have rows of their own.
NO_VARIANT = "no_variant"


@dataclass
class MappedFile:
    """The fields of a file in SQL.

    `values` has a typed expression for each field. `joins` follow `FROM staging AS s` and compute the
    assignments of the math transformer. The values of assigned fields refer to these joins.
    """

    columns: Mapping[str, FileColumn]
    bound: Bound
    assignments: list[Assignment]
    # The number of columns from our error report. The report prefixes cells that look like formulas with an
    # apostrophe, and `raw` removes it.
    own: int = 0
    styles: dict[str, Style] = field(default_factory=dict)
    shape: RowShape = field(default_factory=RowShape)
    values: dict[str, Composable] = field(init=False)
    joins: Composable = field(init=False)
    _in_steps: set[str] = field(init=False, default_factory=set)
    """The fields whose values are already computed by one of the joins."""

    def __post_init__(self) -> None:
        self.values = {name: self._value(name) for name in self.bound.fields}
        if self.shape.sku:
            self.values[self._built] = self._sku(self.shape.sku)
        steps = [self._step(place, each) for place, each in enumerate(self.assignments)]
        self.joins = SQL(" ").join(steps)

    @property
    def fields(self) -> list[str]:
        return list(self.values)

    @property
    def _built(self) -> str:
        return built_field(self.columns)

    def raw(self, index: int) -> Composable:
        """Return a cell's text without blanks around it, never NULL."""
        cell = trimmed(index)
        if self.own:
            # Trim again: a cell that began with a tab has its apostrophe before the tab.
            return SQL(
                "CASE WHEN {0} ~ {1} AND {0} LIKE '''%%' THEN btrim(substr({0}, 2), {2}) ELSE {0} END"
            ).format(cell, Literal(FORMULA_SQL), Literal(BLANKS))
        return cell

    def untouched(self, name: str) -> Composable | None:
        """Return the staging column of a field whose cells the mapping does not change, or None."""
        bindings = self.bound.fields.get(name, [])
        entry = bindings[0].entry if len(bindings) == 1 else None
        if entry is None or self.own or self.shape.empty or transforms(entry):
            return None
        return SQL("s.{}").format(Identifier(f"c{bindings[0].index}"))

    def cell(self, name: str) -> Composable:
        """Return the text of a field's first column, or the built sku. Error messages quote this text."""
        if self.shape.sku and name == self._built:
            return self.values[name]
        bindings = self.bound.fields.get(name)
        return self._text(bindings[0]) if bindings else SQL("''")

    def filled(self, index: int) -> Composable:
        """Return a cell's text, or an empty text if the mapping lists this text as blank."""
        return self.shape.cells.without_empty(self.raw(index))

    @property
    def marks(self) -> dict[str, Composable]:
        """Return the flag columns of a batch: `no_variant` marks parent rows, if the mapping defines them."""
        group = self.shape.group
        if group is None:
            return {}
        kind = SQL("btrim(split_part(lower({}), ',', 1))").format(self.raw(group.index))
        return {"no_variant": SQL("({} = ANY({}))").format(kind, Literal(list(group.values)))}

    @property
    def notes(self) -> dict[str, Composable]:
        """Return note columns of a batch: `lost_pictures` marks rows imported without some pictures."""
        lost = [
            column.left_out(joined([self._text(each) for each in bindings], "|"))
            for name, bindings in self.bound.fields.items()
            if isinstance(column := self.columns[name], Urls)
        ]
        return {"lost_pictures": SQL(" OR ").join(lost)} if lost else {}

    def _sku(self, pattern: TextPattern) -> Composable:
        """Return the row's own sku, else a sku built from other columns."""
        built = pattern.sql(self.filled)
        own = self.values.get(self._built)
        return SQL("coalesce(nullif({}, ''), {})").format(own, built) if own else built

    def _text(self, binding: Binding) -> Composable:
        split, text = binding.entry.split_by_character, self._unsplit(binding)
        return SQL("replace({}, {}, '|')").format(text, Literal(split)) if split else text

    def _unsplit(self, binding: Binding) -> Composable:
        entry, cell = binding.entry, self.filled(binding.index)
        if entry.values:
            whens = SQL(" ").join(
                SQL("WHEN {} THEN {}").format(Literal(each), Literal(value))
                for each, value in entry.values.items()
            )
            cell = SQL("CASE lower({0}) {1} ELSE {0} END").format(cell, whens)
        if entry.relative_urls:
            cell = absolute_urls(cell, entry.relative_urls)
        return TRANSFORMED[entry.string_transformer].format(cell)

    def _value(self, name: str) -> Composable:
        column, bindings = self.columns[name], self.bound.fields[name]
        if isinstance(column, Pairs):
            return self._pairs(column, bindings)
        cell = self._text(bindings[0])
        if len(bindings) > 1:
            cell = joined([SQL("nullif({}, '')").format(self._text(each)) for each in bindings], "|")
        if isinstance(column, Urls) and (len(bindings) > 1 or self.shape.pictures):
            return each_once(cell)
        value = column.value(cell, self.styles.get(name, Style()), self.untouched(name))
        transformer = bindings[0].entry.math_transformer
        if transformer:
            computed = parse_value(transformer).sql({"value": SQL("value")})
            return SQL(
                "(SELECT CASE WHEN value IS NOT NULL THEN {} END FROM (SELECT {} OFFSET 0) AS v (value))"
            ).format(rounded(computed, column), value)
        return value

    def _pairs(self, column: Pairs, bindings: list[Binding]) -> Composable:
        if all(map(is_single, bindings)):
            pairs = [single_pair(column, each, self._text(each), self._name(each)) for each in bindings]
            return SQL("('[' || {} || ']')::jsonb").format(joined(pairs, ","))
        rows = SQL(" UNION ALL ").join(
            pairs_of(
                column,
                place,
                binding,
                self._unsplit(binding) if binding.entry.name_separator else self._text(binding),
                self._name(binding),
                self.shape.cells,
            )
            for place, binding in enumerate(bindings)
        )
        return SQL(
            "(SELECT coalesce(jsonb_agg(jsonb_build_object({key}, name, 'value', value)"
            " ORDER BY place, part), '[]') FROM ({rows}) AS p (place, part, name, value)"
            " WHERE value <> '' AND name <> '')"
        ).format(key=Literal(column.key), rows=rows)

    def _name(self, binding: Binding) -> Composable | None:
        """Return the cell with the name of an option or property, if the mapping names such a column."""
        return None if binding.named_by is None else self.filled(binding.named_by)

    def _step(self, place: int, assignment: Assignment) -> Composable:
        """Return the join that computes one assignment, so that its result is computed only once.

        An earlier join computes the fields that the assignment reads, because a formula may name the same
        field a hundred times.
        """
        read, result = Identifier(f"r{place}"), Identifier(f"m{place}")
        unread = sorted(assignment.inputs - self._in_steps)
        steps = [_once({name: self.values[name] for name in unread}, read)] if unread else []
        self.values.update({name: SQL("{}.{}").format(read, Identifier(name)) for name in unread})
        computed = rounded(assignment.tree.sql(self.values), self.columns[assignment.field])
        self.values[assignment.field] = SQL("{}.value").format(result)
        self._in_steps.update(unread, [assignment.field])
        return SQL(" ").join([*steps, _once({"value": computed}, result)])

    def rules(self) -> list[tuple[str, RowRule]]:
        """Return the rules of each field, over the typed columns of a batch, `b`."""
        rules = []
        for name in self.values:
            column, value, cell = self.columns[name], SQL("b.{}").format(Identifier(name)), self.cell(name)
            sentence = self._not_computable(name, cell)
            if sentence:
                condition = SQL("{} = 'NaN'").format(value)
                rules.append((column.name, RowRule(condition, "not_computable", sentence)))
            rules += [
                (column.name, rule)
                for rule in column.rules(value, cell)
                if not (sentence and rule.is_unreadable)
            ]
        if group := self.shape.group:
            sentence = about(
                self.raw(group.index),
                f"a row of this {group.name} is a parent, the product of variants. The variants have"
                " rows of their own, with sku and price, and land without this row. You need not correct it.",
            )
            rules.append((group.name, RowRule(SQL("b.no_variant"), NO_VARIANT, sentence)))
        return rules

    @property
    def worth_saying(self) -> Composable:
        """Return the SQL condition for a fault to report. It reads `code` and the batch's row, `b`.

        A parent row lacks the fields of its variants, so only the fault NO_VARIANT is reported for it.
        """
        if self.shape.group is None:
            return SQL("true")
        return SQL("(code = {} OR b.no_variant IS NOT TRUE)").format(Literal(NO_VARIANT))

    def _not_computable(self, name: str, cell: Composable) -> Composable | None:
        """Return the message for a computed field without a result; None for a field that is not computed."""
        if any(name == each.field for each in self.assignments):
            return text(f"{name} cannot be computed by math_transformer for this row.")
        if any(each.entry.math_transformer for each in self.bound.fields.get(name, ())):
            return about(cell, f"math_transformer cannot compute {name} from it.")
        return None

    def suspects(self) -> Composable:
        """Return a cheap condition that holds for every row of a batch that breaks a rule."""
        tests: list[Composable] = []
        for name in self.values:
            column, value = self.columns[name], SQL("b.{}").format(Identifier(name))
            suspect = column.suspect(value)
            tests += [suspect] if suspect else [each.condition for each in column.rules(value, value)]
        tests += [SQL("b.{}").format(Identifier(name)) for name in self.marks]
        return SQL(" OR ").join(SQL("({})").format(test) for test in tests)


def rounded(computed: Composable, column: FileColumn) -> Composable:
    """Return a result rounded half up to its column's scale; NaN if it is missing or out of bounds."""
    decimals = Literal(getattr(column, "decimals", 4))
    return SQL(
        "(SELECT CASE WHEN abs(r) < 1e15 THEN round(r, {}) ELSE 'NaN' END FROM (SELECT {} OFFSET 0) AS c (r))"
    ).format(decimals, computed)


def _once(values: Mapping[str, Composable], name: Identifier) -> Composable:
    """Return a join that computes these values. OFFSET 0 makes the planner compute each value only once."""
    named = SQL(", ").join(SQL("{} AS {}").format(each, Identifier(key)) for key, each in values.items())
    return SQL("CROSS JOIN LATERAL (SELECT {} OFFSET 0) AS {}").format(named, name)
