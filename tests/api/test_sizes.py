"""The size limits of bodies (contract 2, *Body size*). A larger body is refused before it is parsed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api import sizes
from api.bodies import MOST_SUSPECTS
from api.errors import MOST_ERRORS, TooLarge
from api.sizes import MOST_MEMBERS, MOST_NESTED, refuse_sprawling
from tests.orders.push_bodies import an_order

MEBIBYTE = 1024 * 1024
SOON = 0.5  # seconds of CPU time; parsing one of the bodies in WORST would take much longer


def refused(text: bytes) -> bool:
    try:
        refuse_sprawling(text)
    except TooLarge:
        return True
    return False


def members(count: int, value: str = "1") -> bytes:
    return ("{" + ",".join(f'"k{n}":{value}' for n in range(count)) + "}").encode()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_fifty_levels_are_read_and_one_more_is_not(opening, closing):
    assert not refused((opening * 50 + "1" + closing * 50).encode())
    assert refused((opening * 51 + "1" + closing * 51).encode())


def test_a_thousand_members_are_read_and_one_more_is_not():
    assert not refused(members(1000))
    assert refused(members(1001))
    assert not refused(b"[" + b",".join([members(1000)] * 3) + b"]")
    assert refused(b'[{"a": [' + members(1001) + b"]}]")


def test_the_members_of_inner_objects_do_not_count_for_the_outer_object():
    inner = '{"a":[{},{"b":1}]}'
    assert not refused(members(1000, inner))
    assert refused(members(1001, inner))


@pytest.mark.parametrize(
    "filler", [":" * 5000, "{" * 5000, "[" * 5000, '\\"' * 5000 + "{[:", "\\\\", "\\\\\\" + '"{']
)
def test_brackets_in_a_string_do_not_count(filler):
    text = f'{{"note": "{filler}", "b": "{filler}", "c": [{"[]," * 60}1]}}'.encode()
    json.loads(text)
    assert not refused(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a\\"{[:,]}é\n', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='b\\":{', max_size=3), inner)
    ),
    max_leaves=25,
)


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def widest(value: object) -> int:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return max([len(value) if isinstance(value, dict) else 0, *map(widest, inner)])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(value=JSON, block=st.integers(1, 9), ascii_only=st.booleans())
def test_depth_and_members_are_counted_as_in_the_parsed_json(value, block, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "BLOCK", block)
        for most in (1, 2, 3):
            patch.setattr(sizes, "MOST_NESTED", most)
            patch.setattr(sizes, "MOST_MEMBERS", 1000)
            assert refused(text) == (depth(value) > most)
            patch.setattr(sizes, "MOST_NESTED", 1000)
            patch.setattr(sizes, "MOST_MEMBERS", most)
            assert refused(text) == (widest(value) > most)


WORST = {
    "a million unknown fields": lambda: members(1_000_000),
    "a million levels": lambda: b"[" * 1_000_000,
    "no key at all, beyond the limit": lambda: b'{"a":' + b"[" * 60 + b"1," * 8 * MEBIBYTE,
    "backslashes": lambda: b'{"a": "' + b"\\" * 15 * MEBIBYTE + b'",' + members(1001)[1:],
}


@pytest.mark.django_db
@pytest.mark.parametrize("what", WORST)
def test_a_body_that_is_too_large_is_refused_at_almost_no_cost(acme, client_for, what):
    client, body = client_for(acme), WORST[what]()
    client.get("variants")
    began = time.process_time()

    answer = client.post("variants", body)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert time.process_time() - began < SOON


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/token/"])
@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded"])
def test_a_credential_has_64_kib_at_most(path, content_type):
    small, large = b'"' + b"a" * (64 * 1024 - 2) + b'"', b"a" * (64 * 1024 + 1)
    asked = [Client().post(path, body, content_type=content_type) for body in (small, large)]

    assert [answer.status_code for answer in asked] == [400, 413]
    assert asked[1].json()["code"] == "too_large"


@pytest.mark.parametrize("path", ["/admin/login/", "/healthz", "/v3/nowhere", "/v3/schema"])
def test_no_path_reads_more_than_16_mib(path):
    """The client announces a body and never sends it: a service that reads the body would wait forever."""
    environ: dict[str, Any] = {"CONTENT_LENGTH": str(16 * MEBIBYTE + 1)}
    answer = Client().generic("POST", path, b"", **environ)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert answer.headers["X-Request-Id"]


@pytest.mark.django_db
def test_an_order_with_many_unknown_fields_is_warned_only_of_the_first(acme, shop, client_for, a_variant):
    a_variant(acme, "A-1", stock=5)
    odd = {f"odd_{n}": 1 for n in range(900)}
    body = an_order({"sku": "A-1", "quantity": 1}, **odd)

    answer = client_for(shop).post("orders", body).json()

    assert len(answer["warnings"]) < 150
    assert "800 more" in " ".join(answer["warnings"])


@pytest.mark.django_db
@pytest.mark.urls("tests.api.probe")
def test_the_faults_of_a_body_are_named_up_to_a_hundred(acme, client_for):
    answer = client_for(acme).post("probe", {"name": "a", "lines": [{}] * 400})

    assert len(answer.json()["errors"]) == MOST_ERRORS
    assert "and 797 more" in answer.json()["message"]


@pytest.mark.django_db
def test_a_body_with_too_many_objects_is_refused_before_they_are_validated(acme, shop, client_for):
    line = {"sku": "A-1", "quantity": 1, "notes": [{"name": "a", "value": ""}] * 100}
    refusal = {"id": 1, "items": [{"sku": "A-1", "quantity": 1}] * 100}
    asked = [
        (client_for(shop), "orders", an_order(*[line] * 100)),
        (client_for(acme), "fulfillments/rejections", [refusal] * 100),
    ]
    for client, path, body in asked:
        answer = client.post(path, body)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert "10000 objects" in answer.json()["message"]


@pytest.mark.django_db
def test_the_length_of_an_array_is_checked_before_its_elements(shop, client_for):
    answer = client_for(shop).post("webhooks", {"url": "https://shop.example/", "types": [5] * 101})
    assert [each["code"] for each in answer.json()["errors"]] == ["max_length"]


@pytest.mark.django_db
@pytest.mark.urls("tests.api.probe")
def test_a_long_quote_in_an_error_message_is_cut(acme, client_for):
    answer = client_for(acme).post("probe", b'{"%s": 1, "%s": 2}' % ((b"x" * MEBIBYTE,) * 2))

    assert answer.status_code == 400
    assert len(answer.content) < 2000


@pytest.mark.django_db
@pytest.mark.urls("tests.api.probe")
def test_long_lists_of_unknown_fields_take_no_time(acme, client_for):
    odd = {f"an_unknown_field_{n}": 1 for n in range(MOST_MEMBERS - 2)}
    began = time.process_time()

    answer = client_for(acme).post("probe", {"name": "a", "lines": [{"sku": "a", "quantity": 1, **odd}] * 50})

    assert answer.status_code == 201
    assert time.process_time() - began < 4
    assert MOST_SUSPECTS < MOST_MEMBERS
    assert MOST_NESTED == 50


@pytest.mark.django_db
@pytest.mark.parametrize(("quantity", "code"), [(9, "insufficient_stock"), (1, "validation_error")])
def test_an_order_with_many_wrong_lines_is_refused_with_the_first_and_their_number(
    acme, shop, client_for, a_variant, quantity, code
):
    a_variant(acme, "A-1", stock=5)
    sku = {"insufficient_stock": "A-1", "validation_error": "A-2"}[code]
    body = an_order(*[{"sku": sku, "quantity": quantity}] * 150, when_short="refuse")

    answer = client_for(shop).post("orders", body).json()

    assert (answer["code"], len(answer["errors"])) == (code, MOST_ERRORS)
    assert "order_lines[2]" in answer["message"]
    assert "; and 147 more." in answer["message"]
