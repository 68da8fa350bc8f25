"""Rules for the answers and errors of all endpoints (contract 2 and 12, interface 2.2 and 7)."""

from __future__ import annotations

import json
import re

import pytest

from .http_client import JSON, digits, fault, unique, well
from .steps import ADDRESS, TIME, act, new_variant, one_fulfillment, order_body

NOBODY = 2_000_000_000


def test_an_error_is_an_envelope_with_a_request_id_and_the_fields_at_fault(acme):
    """Contract 2: an error also has `request_id` and `errors: [{field, code, message}]`."""
    answer = acme.post("variants", {"sku": unique("E"), "title": "x", "retail_price": -1})
    body = fault(answer, 400, "validation_error", "retail_price")
    assert set(body) >= {"success", "message", "code", "request_id", "errors"}


def test_a_valid_request_id_of_the_client_is_kept(acme):
    """Contract 2: every answer has the header `X-Request-Id`, with the client's own id if it is valid."""
    mine = unique("trace")
    assert acme.get("fulfillments", X_Request_Id=mine).headers["X-Request-Id"] == mine
    answer = acme.get("fulfillments/0", X_Request_Id=mine)
    assert fault(answer, 404, "not_found")["request_id"] == mine


@pytest.mark.parametrize("insane", ["x" * 5000, 'a"b<c>', "tab\there", "ümlaut".encode().decode("latin-1")])
def test_an_invalid_request_id_is_replaced(acme, insane):
    """Contract 2: the service does not use an invalid `X-Request-Id` of a client."""
    answer = acme.get("fulfillments", X_Request_Id=insane)
    assert well(answer) is not None
    assert answer.headers["X-Request-Id"] != insane


def test_rate_limit_headers_are_on_every_answer(acme):
    """Contract 2 and 12: every answer has `RateLimit-Limit`, `-Remaining` and `-Reset`.

    The default limit is 6,000 requests in a minute.
    """
    for answer in (
        acme.get("fulfillments", {"limit": 1}),
        acme.get("fulfillments/0"),
        acme.post("variants", {}),
    ):
        limit, remaining, reset = (
            int(answer.headers[f"RateLimit-{part}"]) for part in ("Limit", "Remaining", "Reset")
        )
        assert limit == 6000
        assert 0 <= remaining < limit
        assert 0 <= reset <= 60


def test_the_remaining_count_goes_down(acme):
    """Contract 2: each request of a key counts for its rate limit."""
    left = [int(acme.get("fulfillments/0").headers["RateLimit-Remaining"]) for _ in range(3)]
    # A new minute may begin between two requests.
    assert left[0] > left[1] > left[2] or left[2] > left[0], left


@pytest.mark.parametrize("path", ["fulfillments", "variants", "imports", "uploads", "events", "inventory"])
def test_one_trailing_slash_is_tolerated_without_a_redirect(acme, path):
    """Contract 2: paths have no trailing slash. A path with one is accepted without a redirect."""
    assert acme.get(path + "/", {"limit": 1}).status == acme.get(path, {"limit": 1}).status == 200


def test_a_trailing_slash_is_tolerated_on_posts_too(acme, shop):
    """Contract 2: a POST with a trailing slash is not redirected, because a redirect would lose the body."""
    body = {"sku": unique("SLASH"), "title": "x", "retail_price": 1}
    assert well(acme.post("variants/", body), 201)["sku"] == body["sku"]
    assert shop.post("orders/", {}).status == 400


def test_times_are_utc_with_microseconds_and_z(acme, shop):
    """Contract 2: all times are ISO 8601 in UTC, with microseconds and `Z`."""
    order, held = one_fulfillment(acme, shop)
    act(acme, held["id"], "accepted", {})
    act(acme, held["id"], "shipped", {"tracking_number": "T"})
    shown = well(acme.get(f"fulfillments/{held['id']}"))
    times = [shown["created_at"], shown["updated_at"], shown["shipments"][0]["shipped_at"]]
    whole = well(shop.get(f"orders/{order['id']}"))
    times += [whole["created_at"], whole["updated_at"]]
    assert all(TIME.match(time) for time in times), times


# --- faults in order -------------------------------------------------------------------------------------


def test_401_comes_before_everything(anyone, acme):
    """Contract 2, order of faults: 401 is reported before all other faults."""
    for method, path in [("POST", "variants"), ("DELETE", "fulfillments"), ("GET", f"fulfillments/{NOBODY}")]:
        bad = {"Accept": "text/html", "Content-Type": "text/xml"}
        answer = anyone.request(method, f"{acme.base}/{path}", b"<", bad)
        fault(answer, 401, "unauthorized")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_403_comes_before_404_and_405(acme, rival):
    """Contract 12, order of faults: 403 is reported before 404, 405, 406, 415 and faults of the body."""
    bad = {"Accept": "text/html", "Content-Type": "text/xml"}
    for method, path in [("GET", f"fulfillments/{NOBODY}"), ("DELETE", "fulfillments"), ("POST", "variants")]:
        fault(acme.request(method, f"{rival.base}/{path}", b"<", bad), 403, "forbidden")


def test_404_comes_before_405_406_and_415(acme, shop):
    """Contract 12, order of faults: 404 is reported before 405, 406, 415 and faults of the body."""
    bad = {"Accept": "text/html", "Content-Type": "text/xml"}
    fault(shop.request("POST", f"orders/{NOBODY}/cancel", b"<", bad), 404, "not_found")
    fault(acme.request("PUT", f"fulfillments/{NOBODY}/setStatus/accepted", b"<", bad), 404, "not_found")
    fault(shop.request("DELETE", f"orders/{NOBODY}"), 404, "not_found")


def test_405_comes_before_406_and_names_the_allowed_methods(acme):
    """Contract 12, order of faults: 405 is reported before 406 and 415."""
    answer = acme.request("DELETE", "variants", b"<", {"Accept": "text/html", "Content-Type": "text/xml"})
    fault(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]


def test_406_comes_before_415(acme):
    """Contract 12, order of faults: 406 is reported before 415."""
    answer = acme.request("POST", "variants", b"<", {"Accept": "text/html", "Content-Type": "text/xml"})
    fault(answer, 406, "not_acceptable")


def test_415_comes_before_the_body(acme):
    """Contract 12, order of faults: 415 is reported before an unreadable body."""
    fault(acme.request("POST", "variants", b"{", {"Content-Type": "text/xml"}), 415, "unsupported_media_type")


def test_an_unreadable_body_comes_before_fields_and_state(acme, shop):
    """Contract 12, order of faults: an unreadable body is reported before wrong fields and states."""
    _, held = one_fulfillment(acme, shop)
    answer = acme.put(f"fulfillments/{held['id']}/setStatus/shipped", b'{"tracking_number": ')
    fault(answer, 400, "invalid_json")


def test_fields_come_before_the_state(acme, shop):
    """Contract 12, order of faults: wrong fields are reported before a wrong state.

    Here, the state is wrong too: a new fulfillment cannot be shipped.
    """
    _, held = one_fulfillment(acme, shop)
    fault(act(acme, held["id"], "shipped", {}), 400, "missing_parameter", "tracking_number")
    fault(act(acme, held["id"], "shipped", {"tracking_number": "T"}), 409, "invalid_transition")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "fulfillments"),
        ("POST", "fulfillments"),
        ("GET", "importProducts"),
        ("GET", "importInventory"),
        ("PUT", "variants"),
        ("PUT", "inventory"),
        ("POST", "imports"),
        ("POST", "events"),
        ("DELETE", "uploads"),
    ],
)
def test_an_unknown_method_on_a_suppliers_path_is_405(acme, method, path):
    """Contract 2: the answer is 405 `method_not_allowed`."""
    answer = acme.request(method, path)
    fault(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "orders"), ("PUT", "orders"), ("POST", "order-filters")],
)
def test_an_unknown_method_on_a_retailers_path_is_405(shop, method, path):
    """Contract 2: the answer is 405 `method_not_allowed`."""
    fault(shop.request(method, path), 405, "method_not_allowed")


@pytest.mark.parametrize("path", ["nonsense", "fulfillments/1/setState", "v4", "variants/1/2/3"])
def test_an_unknown_path_is_404(acme, path):
    """Contract 2: the answer is 404 `not_found`, in the envelope."""
    fault(acme.get(path), 404, "not_found")


@pytest.mark.parametrize("path", ["/v3", "/v2/suppliers/1/fulfillments", "/nothing/here", "/v3/nonsense"])
def test_a_path_outside_every_party_is_an_envelope_too(acme, path):
    """Contract 2: every error has the envelope as its body, and never HTML."""
    answer = acme.get(path)
    assert answer.status == 404, answer
    assert answer.json["code"] == "not_found"


@pytest.mark.parametrize("number", ["0", "abc", "1.5", "-1", "9" * 30, "1%00", "%F0%9F%92%A9"])
def test_an_invalid_number_in_the_path_is_not_found(acme, shop, number):
    """Contract 2: the answer is 404 `not_found`, and never 500."""
    fault(acme.get(f"fulfillments/{number}"), 404, "not_found")
    fault(acme.get(f"imports/{number}"), 404, "not_found")
    fault(shop.get(f"orders/{number}"), 404, "not_found")
    fault(shop.post(f"orders/{number}/cancel"), 404, "not_found")
    fault(acme.get(f"/v3/variants/{number}"), 404, "not_found")


def test_a_party_number_beyond_every_integer_is_forbidden_too(acme):
    """Contract 1: the id of another party in the path gets 403, whether or not this party exists."""
    fault(acme.get(f"/v3/suppliers/{'9' * 30}/fulfillments"), 403, "forbidden")


# --- Accept and Content-Type ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "*/*",
        "application/*",
        "application/json;q=0.5",
        "text/html, */*;q=0.1",
        "application/json; charset=utf-8",
        "application/xml, application/json",
        "APPLICATION/JSON",
    ],
)
def test_json_is_answered_to_every_client_that_does_not_rule_it_out(acme, accept):
    """Contract 12: all answers are JSON. Only an `Accept` that excludes JSON gets 406."""
    well(acme.get("fulfillments", {"limit": 1}, Accept=accept))


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*", "application/json;q=0"])
def test_a_client_that_rules_json_out_gets_406(acme, accept):
    """Contract 12: an `Accept` that excludes JSON gets 406. The body of this error is JSON nevertheless."""
    fault(acme.get("fulfillments", Accept=accept), 406, "not_acceptable")


@pytest.mark.parametrize("accept", ["text/csv", "application/json", "text/html", "*/*", None])
def test_a_csv_path_always_answers_csv(acme, accept):
    """Contract 12: paths of CSV files always answer with CSV."""
    answer = acme.get("templates/products.csv", Accept=accept)
    assert answer.status == 200, answer
    assert answer.headers.get_content_type() == "text/csv", answer


@pytest.mark.parametrize(
    "kind", ["text/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_that_is_not_json_is_415(acme, kind):
    """Contract 2: the answer is 415 `unsupported_media_type`."""
    fault(acme.post("variants", b"sku=1", Content_Type=kind), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8"]
)
def test_the_usual_names_of_json_are_accepted(acme, kind):
    """Interface, head: clients send `Content-Type: application/json`."""
    body = {"sku": unique("CT"), "title": "x", "retail_price": 1}
    assert acme.post("variants", body, Content_Type=kind).status == 201


def test_an_empty_body_needs_no_content_type(acme, shop):
    """Contract 10: if no field is required, an empty body of any content type is accepted."""
    for sent in (None, "application/json", "application/x-www-form-urlencoded"):
        _, held = one_fulfillment(acme, shop)
        answer = acme.put(f"fulfillments/{held['id']}/setStatus/accepted", b"", Content_Type=sent)
        assert answer.status == 200, answer


# --- unreadable bodies ----------------------------------------------------------------------------------

UNREADABLE = {
    "cut off": b'{"sku": "A',
    "two values": b"{} {}",
    "single quotes": b"{'sku': 1}",
    "trailing comma": b'{"sku": "A",}',
    "a key twice": b'{"sku": "A", "sku": "B", "title": "x", "retail_price": 1}',
    "a key twice, deep": b'{"sku": "A", "options": [{"type": "color", "type": "size"}]}',
    "NaN": b'{"sku": "A", "title": "x", "retail_price": NaN}',
    "Infinity": b'{"sku": "A", "title": "x", "retail_price": -Infinity}',
    "windows-1252": '{"sku": "Ä", "title": "x", "retail_price": 1}'.encode("cp1252"),
    "UTF-16": '{"sku": "A", "title": "x", "retail_price": 1}'.encode("utf-16"),
    "lone quote": b'"',
    "a control character": b'{"sku": "A\nB", "title": "x", "retail_price": 1}',
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_an_unreadable_body_is_a_400(acme, what):
    """Contract 2 and 12: bodies that are not UTF-8 or JSON, or have duplicate keys, get `invalid_json`.

    NaN and Infinity may get `validation_error`.
    """
    codes = ("invalid_json", "validation_error") if what in ("NaN", "Infinity") else "invalid_json"
    fault(acme.post("variants", UNREADABLE[what]), 400, codes)


@pytest.mark.parametrize("body", [[], "text", 5, None, True])
def test_a_body_that_is_no_object_is_refused(acme, shop, body):
    """Contract 2: a wrong body gets 400 in the envelope."""
    raw = json.dumps(body).encode()
    for answer in (acme.post("variants", raw), shop.post("orders", raw), acme.post("inventory", raw)):
        fault(answer, 400, ("validation_error", "invalid_json", "missing_parameter"))


def test_an_empty_body_lacks_the_required_fields(acme, shop):
    """Contract 12: the code is `missing_parameter` if the only fault is that required fields are absent."""
    fault(acme.post("variants"), 400, ("missing_parameter", "invalid_json"))
    fault(shop.post("orders"), 400, ("missing_parameter", "invalid_json"))


@pytest.mark.parametrize("text", ["a\\u0000b", "\\ud800"])
def test_text_that_no_database_can_hold_is_a_clear_error(acme, shop, text):
    """Contract 2 and head: unclear input gets a clear error, and never 500."""
    raw = f'{{"sku": "{unique("N")}", "title": "{text}", "retail_price": 1}}'.encode()
    fault(acme.post("variants", raw), 400, ("validation_error", "invalid_json"))
    order = json.dumps(order_body({"sku": "x", "quantity": 1})).replace('"GROUND"', f'"{text}"')
    fault(shop.post("orders", order.encode()), 400, ("validation_error", "invalid_json"))
    cursor = "%00" if "u0000" in text else "%ED%A0%80"
    assert shop.request("GET", f"orders?cursor={cursor}").status == 400


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 60,
        b'{"sku": "A", ' + b", ".join(b'"k%d": 1' % n for n in range(1001)) + b"}",
    ],
    ids=["very deep", "deep", "wide"],
)
def test_a_body_too_deep_or_too_wide_is_413(acme, raw):
    """Contract 13, Sizes: a body has at most 50 levels, and an object at most 1,000 members."""
    fault(acme.post("variants", raw), 413, "too_large")


def test_a_body_far_too_large_is_413(acme):
    """Contract 13: the answer is 413 `too_large`, in the envelope."""
    answer = acme.post("variants", b'{"sku": "' + b"x" * 40_000_000 + b'"}')
    fault(answer, 413, "too_large")


# --- never a guess --------------------------------------------------------------------------------------


def test_a_number_where_a_text_belongs_is_refused(acme, shop):
    """Contract 12: `"upc": 36000291452` is refused, because a number loses leading zeros."""
    code = int(digits(12))
    answer = acme.post("variants", {"sku": unique("U"), "title": "x", "retail_price": 1, "upc": code})
    fault(answer, 400, "validation_error", "upc")
    fault(acme.post("variants", {"sku": 5, "title": "x", "retail_price": 1}), 400, "validation_error", "sku")
    answer = shop.post("orders", order_body({"sku": "x", "quantity": 1}, retailer_order_id=17))
    fault(answer, 400, "validation_error", "retailer_order_id")
    answer = shop.post("orders", order_body({"upc": code, "quantity": 1}))
    fault(answer, 400, "validation_error", "order_lines[0].upc")
    address = ADDRESS | {"zip_code": 1234}
    answer = shop.post("orders", order_body({"sku": "x", "quantity": 1}, shipping_address=address))
    fault(answer, 400, "validation_error", "shipping_address.zip_code")


def test_missing_fields_and_wrong_fields_have_different_codes(acme):
    """Contract 12: the code is `missing_parameter` if fields are only absent, else `validation_error`."""
    body = fault(acme.post("variants", {}), 400, "missing_parameter")
    assert {error["field"] for error in body["errors"]} == {"sku", "title", "retail_price"}
    body = fault(acme.post("variants", {"retail_price": "dear"}), 400, "validation_error", "retail_price")
    assert {"sku", "title"} <= {error["field"] for error in body["errors"]}, "all faults must be named"


@pytest.mark.parametrize("limit", ["0", "-1", "501", "ten", "1.5", "9" * 40])
def test_a_limit_outside_its_bounds_is_400(acme, shop, limit):
    """Contract 12: a `limit` below 1 or above the maximum gets 400."""
    fault(acme.get("fulfillments", {"limit": limit}), 400, ("validation_error", "invalid_filter"))
    fault(shop.get("orders", {"limit": limit}), 400, ("validation_error", "invalid_filter"))


@pytest.mark.parametrize("limit", [1, 500])
def test_a_limit_is_accepted_at_its_bounds(acme, shop, limit):
    """Contract 3 and 4: `limit` may be 1 to 500."""
    assert len(well(acme.get("fulfillments", {"limit": limit}))) <= limit
    assert len(well(shop.get("orders", {"limit": limit}))["results"]) <= limit


def test_unknown_query_parameters_are_ignored(acme, shop):
    """Contract 12 and head: unknown parameters are ignored, because some clients add `_=<milliseconds>`."""
    for answer in (
        acme.get("fulfillments", {"_": "1712345678901", "limit": 1}),
        shop.get("orders", {"_": "1712345678901", "limit": 1}),
        shop.get("variants", {"_": "1712345678901", "service_type": "ecommerce", "limit": 1}),
        shop.get("order-filters", {"_": "1"}),
    ):
        well(answer)


@pytest.mark.parametrize("cursor", ["nonsense", "", "eyJ4IjoxfQ==", "'; drop table", "A" * 5000])
def test_a_cursor_that_was_never_issued_is_refused(acme, shop, cursor):
    """Contract 2: the answer is 400 `invalid_cursor`."""
    codes = ("invalid_cursor",)
    if cursor:
        fault(shop.get("orders", {"cursor": cursor}), 400, codes)
        fault(acme.get("fulfillments", {"cursor": cursor}), 400, codes)
    else:
        assert shop.get("orders", {"cursor": "", "limit": 1}).status in (200, 400)


def test_options_and_head_are_no_way_around_the_key(anyone, acme):
    """Contract 1: HEAD and OPTIONS give no data to a request without a key."""
    assert anyone.request("HEAD", f"{acme.base}/fulfillments").status == 401
    assert anyone.request("OPTIONS", f"{acme.base}/fulfillments").status in (200, 401)
    answer = acme.request("HEAD", "fulfillments", None, JSON)
    assert answer.status in (200, 405), answer


def test_no_answer_shows_internals(acme):
    """Contract 2: an answer never has a stack trace or HTML."""
    new_variant(acme)
    for answer in (acme.get("nonsense"), acme.post("variants", {"sku": []}), acme.get("fulfillments/0")):
        assert not re.search(r"<html|Traceback|\.py\b|django|psycopg", answer.text, re.IGNORECASE), answer
