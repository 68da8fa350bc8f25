"""Request bodies: a body that could be read in two ways is refused, and the answer gives the reason."""

import gzip
from io import BytesIO

import pytest
from django.core.handlers.wsgi import WSGIRequest
from rest_framework.request import Request

from accounts.models import Retailer
from api.errors import InvalidJson
from api.parsers import whole_body

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]


@pytest.fixture
def acme_client(acme, client_for):
    return client_for(acme)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"name": "a"', "line 1, column"),
        (b"{'name': 'a'}", "not JSON"),
        (b'{"name": "a", "name": "b"}', "'name' appears twice"),
        (b'{"lines": [{"sku": "a", "sku": "b"}]}', "'sku' appears twice"),
        (b'{"name": "\xff"}', "not UTF-8"),
        ('{"name": "Zoë"}'.encode("latin-1"), "not UTF-8"),
        ('{"name": "a"}'.encode("utf-16"), "not UTF-8"),
        (b'{"count": ' + b"9" * 5000 + b"}", "is too long"),
        (b'{"price": 1e99999999}', "is too long"),
        (b"NaN", "NaN is not a JSON number"),
        (b'{"name": "a", "price": NaN}', "NaN is not a JSON number"),
        (b'{"name": "a", "unknown": {"deep": [Infinity]}}', "Infinity is not a JSON number"),
        (b'{"name": "a", "lines": [-Infinity]}', "-Infinity is not a JSON number"),
        (b'{"price": 1e99999999999999999999}', "is too long"),
        (b'{"price": 0.' + b"1" * 5000 + b"}", "is too long"),
    ],
)
def test_a_body_that_cannot_be_read_in_one_way_is_invalid_json(acme_client, body, message):
    answer = acme_client.post("probe", body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")
    assert message in answer.json()["message"]
    assert not Retailer.objects.exists()


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"3", b"true"])
def test_a_body_that_is_not_an_object_is_refused_with_this_reason(acme_client, body):
    answer = acme_client.post("probe", body)

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert "JSON object" in answer.json()["message"]


def test_a_null_body_lacks_the_required_fields(acme_client):
    answer = acme_client.post("probe", b"null")

    assert (answer.status_code, answer.json()["code"]) == (400, "missing_parameter")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", 36000291452, "invalid"),
        ("name", None, "null"),
        ("name", "", "blank"),
        ("name", "a\x00b", "control"),
        ("name", "a\x1bb", "control"),
        ("name", "x" * 51, "max_length"),
        ("name", ["a"], "invalid"),
        ("price", "19,99", "invalid"),
        ("price", "१२.५", "invalid"),
        ("price", "1_000", "invalid"),
        ("price", "NaN", "invalid"),
        ("price", True, "invalid"),
        ("price", "-1", "min_value"),
        ("price", "1.23456", "max_decimal_places"),
        ("price", "1e30", "max_digits"),
        ("price", "99999999999.00", "max_whole_digits"),
        ("count", 2**31, "max_value"),
        ("count", "1e3", "invalid"),
        ("count", 1.5, "invalid"),
        ("count", True, "invalid"),
        ("count", "٣", "invalid"),
        ("count", 10**50, "max_value"),
        ("thing_id", 0, "min_value"),
        ("thing_id", 2**63, "max_value"),
        ("gift", "true", "invalid"),
        ("gift", 1, "invalid"),
        ("day", "2026-02-30", "invalid"),
        ("day", "31.01.2026", "invalid"),
        ("day", "0000-01-01", "invalid"),
        ("moment", "yesterday", "invalid"),
        ("moment", "0001-01-01T00:00:00+14:00", "invalid"),
        ("lines", {}, "not_a_list"),
    ],
)
def test_a_wrong_field_is_named(acme_client, field, value, code):
    answer = acme_client.post("probe", {"name": "fine", field: value})

    assert answer.status_code == 400
    assert answer.json()["code"] == "validation_error"
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [(field, code)]
    assert field in answer.json()["message"]


def test_half_of_a_surrogate_pair_is_refused_and_can_be_named(acme_client):
    answer = acme_client.post("probe", b'{"name": "\\ud800", "\\udfff": 1}')

    assert answer.status_code == 400
    assert answer.json()["errors"][0] == {
        "field": "name",
        "code": "control",
        "message": "Must not hold a control character: U+D800 (at character 1).",
    }


def test_every_fault_is_named_with_its_path(acme_client):
    lines = [{"sku": "a", "quantity": 1}, {"quantity": 0}, {"sku": 5, "quantity": "x"}]
    answer = acme_client.post("probe", {"name": "fine", "lines": lines}).json()

    assert [error["field"] for error in answer["errors"]] == [
        "lines[1].sku",
        "lines[1].quantity",
        "lines[2].sku",
        "lines[2].quantity",
    ]


def test_absent_fields_without_other_faults_get_missing_parameter(acme_client):
    assert acme_client.post("probe", {}).json()["code"] == "missing_parameter"
    assert acme_client.post("probe").json()["code"] == "missing_parameter"
    assert acme_client.post("probe", {"price": "x"}).json()["code"] == "validation_error"


def test_a_misspelled_required_field_gets_a_suggestion(acme_client):
    answer = acme_client.post("probe", {"Name": "fine"}).json()

    assert answer["errors"][0]["field"] == "Name"
    assert "Did you mean name?" in answer["message"]


@pytest.mark.parametrize("price", [19.99, "19.99", "19.9900", 20, "2E1"])
def test_every_clear_spelling_of_a_number_is_accepted(acme_client, price):
    body = {"name": "Zoë 漢字", "price": price, "count": "3", "day": "2026-01-31T12:00:00Z", "unknown": {}}
    assert acme_client.post("probe", body).status_code == 201


def test_a_byte_order_mark_is_no_fault(acme_client):
    assert acme_client.post("probe", b'\xef\xbb\xbf{"name": "a"}').status_code == 201


def test_numbers_go_in_and_come_out_exactly(acme_client):
    answer = acme_client.request("PUT", "probe/1", b'{"a": 19.99, "b": 0.10, "c": 12345678901234567890}')
    assert answer.content == b'{"body":{"a":19.99,"b":0.10,"c":12345678901234567890}}'


def test_an_empty_body_of_any_content_type_is_read_as_an_empty_object(acme_client):
    for content_type in ("application/json", "text/plain", "application/x-www-form-urlencoded", ""):
        answer = acme_client.request("PUT", "probe/1", Content_Type=content_type)
        assert (answer.status_code, answer.json()) == (200, {"body": {}})


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "multipart/form-data; boundary=x"])
def test_a_body_of_another_type_is_415(acme_client, content_type):
    answer = acme_client.request("PUT", "probe/1", b'{"name": "a"}', Content_Type=content_type)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_json_type_with_parameters_is_json(acme_client):
    answer = acme_client.request("PUT", "probe/1", b"{}", Content_Type="Application/JSON; charset=utf-8")
    assert answer.status_code == 200


def test_a_body_beyond_the_limit_is_413(acme_client, settings):
    settings.MAX_BODY_BYTES = 100
    for headers in ({}, {"Idempotency_Key": "k"}):
        answer = acme_client.post("probe", {"name": "a", "note": "x" * 200}, **headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_cut_body_is_not_read_as_a_shorter_body():
    environ = {
        "REQUEST_METHOD": "POST",
        "CONTENT_LENGTH": "50",
        "CONTENT_TYPE": "application/json",
        "wsgi.input": BytesIO(b""),
    }
    with pytest.raises(InvalidJson, match="0 of 50 bytes"):
        whole_body(Request(WSGIRequest(environ)))


@pytest.mark.parametrize("text", ["1e30", "1E+40", "123456789012345"])
def test_a_number_too_large_for_its_column_is_a_fault_of_its_field(acme_client, text):
    body = '{"sku": "A-1", "title": "a", "retail_price": %s}' % text  # noqa: UP031 - `format` would need each brace doubled

    answer = acme_client.post("variants", body.encode())

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert [each["field"] for each in answer.json()["errors"]] == ["retail_price"]


@pytest.mark.parametrize(
    "content_type",
    ["text/json", "Text/JSON; charset=utf-8", "application/vnd.api+json", "application/hal+json"],
)
def test_json_under_its_other_names_is_json(acme_client, content_type):
    answer = acme_client.request("PUT", "probe/1", b'{"name": "a"}', Content_Type=content_type)
    assert (answer.status_code, answer.json()) == (200, {"body": {"name": "a"}})


@pytest.mark.parametrize("coding", ["gzip", "deflate, gzip", "br"])
def test_a_compressed_body_is_refused_with_this_reason(acme_client, coding):
    answer = acme_client.request("PUT", "probe/1", gzip.compress(b'{"name": "a"}'), Content_Encoding=coding)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert "Content-Encoding" in answer.json()["message"]


@pytest.mark.parametrize("coding", ["", "identity", "Identity"])
def test_a_body_declared_as_uncompressed_is_read(acme_client, coding):
    answer = acme_client.request("PUT", "probe/1", b'{"name": "a"}', Content_Encoding=coding)
    assert answer.status_code == 200
