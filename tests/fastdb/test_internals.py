"""The internals of Django that `fastdb` uses: each test names an internal and the code that depends on it.

Django does not promise these internals. If a test fails, compare `fastdb` with Django's `db/models/query.py`
(ModelIterable, ValuesListIterable) and `QuerySet.bulk_create`.
"""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Expression, F, Model, TextField, Value
from django.db.models.expressions import DatabaseDefault
from django.db.models.functions import Cast
from django.db.models.query import ModelIterable, QuerySet, ValuesListIterable, get_related_populators
from django.db.models.sql.compiler import SQLCompiler

from accounts.models import ApiKey, Supplier
from catalog.models import Variant
from events.models import Event
from fastdb.compiled import Param, any_of
from fastdb.inserts import PLAIN
from inventory.models import StockLevel

pytestmark = pytest.mark.django_db


def compiler_of(queryset: QuerySet[Any, Any]) -> SQLCompiler:
    compiler: SQLCompiler = queryset.query.get_compiler("default")
    compiler.as_sql()
    return compiler


def parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


# --- fastdb.compiled: a statement and its converters -------------------------------------------------


def test_a_parameter_of_an_expression_stays_unchanged():
    compiler = ApiKey.objects.filter(prefix=Param("prefix"), revoked_at=None).query.get_compiler("default")
    sql, params = compiler.as_sql()
    assert sql.count("%s") == len(params) == 1
    assert isinstance(params[0], Param), "fastdb.compiled finds its Params among the parameters of as_sql()"


def test_a_function_of_a_parameter_is_a_condition_of_its_own():
    sql, params = ApiKey.objects.filter(any_of("id", "ids")).query.sql_with_params()
    assert '"accounts_apikey"."id" = ANY(%s)' in sql, "fastdb.compiled.any_of writes `column = ANY(…)`"
    assert isinstance(params[0], Param)


def test_an_expression_gets_the_compiler_and_the_connection():
    assert parameters(Expression.as_sql) == ["self", "compiler", "connection"], "Param.as_sql overrides it"


def test_the_compilers_selected_triples_begin_with_the_expression():
    compiler = compiler_of(Variant.objects.values_list("sku"))
    assert compiler.select is not None
    assert [len(each) for each in compiler.select] == [3]
    assert compiler.select[0][0].target is Variant._meta.get_field("sku"), "a Col has its field as `target`"


def test_converters_are_found_by_position_and_called_with_value_expression_and_connection():
    compiler = compiler_of(Variant.objects.values_list("sku", "options"))
    assert compiler.select is not None
    converters = compiler.get_converters([each[0] for each in compiler.select])
    assert list(converters) == [1], "get_converters() has only the columns with a converter"
    (convert, *_), expression = converters[1]
    assert convert('["x"]', expression, connection) == ["x"]


# --- fastdb.compiled: instances -------------------------------------------------------------------


def test_a_plain_queryset_iterates_by_the_model_iterable():
    assert ApiKey.objects.all()._iterable_class is ModelIterable
    assert ApiKey.objects.values_list("id")._iterable_class is ValuesListIterable


def test_klass_info_names_the_model_and_its_columns_of_the_select():
    info = compiler_of(ApiKey.objects.select_related("supplier").annotate(one=Value(1))).klass_info
    assert info is not None
    assert info["model"] is ApiKey
    columns = [field.attname for field in ApiKey._meta.concrete_fields]
    assert info["select_fields"] == list(range(len(columns))), "a model's columns are first, side by side"


def test_annotation_col_map_has_the_position_of_each_annotation():
    compiler = compiler_of(Supplier.objects.annotate(one=Value(1)))
    assert compiler.annotation_col_map == {"one": len(Supplier._meta.concrete_fields)}


def test_get_related_populators_is_given_the_class_info_the_select_and_the_database():
    assert parameters(get_related_populators) == ["klass_info", "select", "db"]
    compiler = compiler_of(ApiKey.objects.select_related("supplier"))
    (populator,) = get_related_populators(compiler.klass_info, compiler.select, "default")  # type: ignore[call-arg]
    assert parameters(populator.populate) == ["row", "from_obj"], "populate() sets the related instance"


def test_an_instance_is_made_by_from_db():
    assert parameters(Model.from_db) == ["db", "field_names", "values"]


# --- fastdb.rows ------------------------------------------------------------------------------------


def test_rows_have_their_columns_in_the_requested_order(acme, a_variant):
    a_variant(acme, "A", retail_price="1.5")
    variants: QuerySet[Any, Any] = Variant.objects.annotate(twice=F("retail_price") * 2)
    asked = variants.values_list("sku", "twice", "supplier_id")
    assert next(iter(ValuesListIterable(asked))) == ("A", Decimal(3), acme.pk)


def test_a_derived_queryset_keeps_the_iterable_class():
    class Own(ValuesListIterable[Any]):
        pass

    rows = Variant.objects.values_list("sku")
    rows._iterable_class = Own
    assert rows.filter(sku="A").order_by("id")[:3]._iterable_class is Own


# --- fastdb.columns ---------------------------------------------------------------------------------


def test_a_cast_to_text_has_no_converter():
    asked = Variant.objects.annotate(text=Cast("options", TextField()))
    compiler = compiler_of(asked.values_list("text"))
    assert compiler.select is not None
    assert compiler.get_converters([each[0] for each in compiler.select]) == {}


# --- fastdb.inserts ---------------------------------------------------------------------------------


def test_an_unset_column_with_a_database_default_holds_a_database_default():
    assert isinstance(Event().occurred_at, DatabaseDefault), "fastdb.inserts leaves these out of the row"
    assert Event._meta.get_field("occurred_at").has_db_default()
    assert not Event._meta.get_field("type").has_db_default()


def test_db_returning_fields_are_the_key_the_defaults_and_generated_fields():
    returned = {field.name for field in StockLevel._meta.db_returning_fields}
    expected = {
        field.name
        for field in StockLevel._meta.concrete_fields
        if field.primary_key or field.has_db_default() or field.generated
    }
    assert returned == expected, "an inserted instance gets the values that the database set"


def test_most_values_go_to_the_database_unchanged():
    """`fastdb.inserts.PLAIN` names the kinds of columns whose plain value needs no preparation."""
    fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]
    for field in fields:
        plain = PLAIN.get(field.get_internal_type())
        if plain:
            prepared = field.get_db_prep_save(plain(1), connection)
            assert isinstance(prepared, plain), field
            assert prepared == plain(1), field
    kinds = {field.get_internal_type() for field in fields}
    assert set(PLAIN) <= kinds, "PLAIN names a kind of column that no model has"


def test_a_new_instance_is_marked_as_not_stored():
    state = Supplier()._state
    assert (state.adding, state.db) == (True, None), "fastdb.inserts sets both when a row is inserted"
