"""The language of math_transformer: PostgreSQL computes like Decimal, and nothing else is accepted."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL, Literal

from imports.pipeline.expression_parser import ExpressionError, parse_assignments, parse_value
from imports.pipeline.expressions import BinaryOperation, Call, Field, Negation, NumberLiteral
from imports.pipeline.header_binding import bind
from imports.pipeline.importer import importer_of
from imports.pipeline.mapping_sql import MappedFile
from tests.imports.decimal_trees import evaluate

FIELDS = ("retail_price", "weight", "wholesale_price")
numbers = st.decimals(0, 10**10, allow_nan=False, places=4)


def trees():
    leaves = st.builds(NumberLiteral, numbers) | st.sampled_from([Field(name) for name in FIELDS])
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(Negation, inner)
            | st.builds(BinaryOperation, st.sampled_from("+-*/"), inner, inner)
            | st.builds(lambda f, t: Call(f, (t,)), st.sampled_from(["round", "floor", "ceil", "abs"]), inner)
            | st.builds(lambda t, n: Call("round", (t, NumberLiteral(Decimal(n)))), inner, st.integers(0, 4))
            | st.builds(
                lambda f, ts: Call(f, tuple(ts)),
                st.sampled_from(["min", "max"]),
                st.lists(inner, min_size=2, max_size=3),
            )
        ),
        max_leaves=8,
    )


def written(tree) -> str:
    """Write the tree as an expression."""
    if isinstance(tree, NumberLiteral):
        return f"{tree.value:f}"
    if isinstance(tree, Field):
        return tree.name
    if isinstance(tree, Negation):
        return f"-({written(tree.operand)})"
    if isinstance(tree, BinaryOperation):
        return f"({written(tree.left)} {tree.sign} {written(tree.right)})"
    return f"{tree.function}({', '.join(map(written, tree.arguments))})"


@pytest.mark.django_db
@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tree=trees(), values=st.tuples(*[st.none() | numbers] * len(FIELDS)))
def test_sql_and_decimal_compute_the_same(tree, values):
    (parsed,) = parse_assignments(f"weight = {written(tree)}", FIELDS)
    row = dict(zip(FIELDS, values, strict=True))
    expected = evaluate(parsed.tree, row)
    fields = {name: SQL("{}::numeric").format(Literal(value)) for name, value in row.items()}

    with connection.cursor() as cursor:
        cursor.execute(SQL("SELECT {}").format(parsed.tree.sql(fields)))
        found = cursor.fetchone()[0]

    assert found == expected


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("8 / 2 / 2", "2"),
        ("2 - 3 - 4", "-5"),
        ("(--2)", "2"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(1.005, 2)", "1.01"),
        ("min(3, 1, 2) + max(3, 1, 2)", "4"),
        ("floor(-1.5) * ceil(1.2) + abs(-4)", "0"),
        ("0.1 + 0.2", "0.3"),
        (".5 + 1.", "1.5"),
    ],
)
def test_precedence_and_functions_are_the_usual_ones(text, result):
    assert evaluate(parse_value(text), {}) == Decimal(result)


@pytest.mark.parametrize(
    ("text", "result"), [("*1.2", "12"), ("/ 4", "2.5"), ("+1", "11"), ("-1", "9"), ("value", "10")]
)
def test_an_objects_own_transformer_may_begin_with_an_operator(text, result):
    assert evaluate(parse_value(text), {"value": Decimal(10)}) == Decimal(result)


def test_an_impossible_computation_gives_no_value():
    assert evaluate(parse_value("1 / 0"), {}) is None
    assert evaluate(parse_value("max(1, value)"), {"value": None}) is None


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("9**9**9", 3),
        ("__import__('os')", 12),
        ("value; import os", 6),
        ("'a' * 10", 1),
        ("value.real", 6),
        ("lambda: 1", 7),
        ("value[0]", 6),
        ("1e9", 2),
        ("0x10", 2),
        ("1_000", 2),
        ("१२", 1),
        ("value %% 2", 7),
        ("value * * 2", 9),
        ("round(1, value)", 1),
        ("round(1, 11)", 1),
        ("min(1)", 1),
        ("pow(2, 9)", 1),
        ("(1", 3),
        ("1)", 2),
        ("", 1),
        ("1 " * 600, 1001),
        ("(" * 40 + "1" + ")" * 40, 31),
        ("9" * 21, 1),
        ("+".join(["1"] * 200), 202),
        ("- " * 400, 800),
    ],
)
def test_wrong_expressions_are_refused_at_their_character(text, position):
    with pytest.raises(ExpressionError) as error:
        parse_value(text)

    assert error.value.position == position


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
def test_any_text_is_read_or_refused(text):
    position = 1
    try:
        parse_assignments(text, FIELDS)
    except ExpressionError as error:
        position = error.position

    assert 1 <= position <= len(text) + 1


@pytest.mark.django_db
def test_the_longest_chains_still_run(acme, ran):
    chain = "; ".join(["weight = weight * weight"] * 20)

    job = ran(
        acme, data=["sku,title,retail_price,weight", "A-1,x,1,1", "A-2,x,1,9999999"], math_transformer=chain
    )

    assert (job["created"], job["rejected"]) == (1, 1)
    longest = "retail_price = " + "*".join(["retail_price"] * 60)
    assert ran(acme, data=["sku,title,retail_price", "A-3,x,1.5"], math_transformer=longest)["rejected"] == 1


def test_a_field_that_occurs_often_is_read_once():
    columns = importer_of("products").columns
    bound = bind(["sku", "weight"], [], columns)

    def reads(times: int) -> int:
        assignments = parse_assignments("retail_price = " + " * ".join(["weight"] * times), FIELDS)
        return MappedFile(columns, bound, assignments).joins.as_string().count("c1")

    assert 0 < reads(77) == reads(1)
