"""Access tokens by OAuth 2 client credentials (contract 1, RFC 6749)."""

from __future__ import annotations

import base64
import json
from urllib.parse import urlencode

import pytest

from .http_client import fault, well
from .steps import new_variant, one_fulfillment

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": None}
KINDS = ["form", "json", "basic"]


def ask(party, how="form", **more):
    """Request a token with the credentials in a form, in JSON, or in the header of HTTP Basic.

    Fields with the value None are left out.
    """
    body = {
        "grant_type": "client_credentials",
        "client_id": party.about["client_id"],
        "client_secret": party.about["client_secret"],
    } | more
    body = {key: value for key, value in body.items() if value is not None}
    nobody = party.with_token("")
    if how == "json":
        return nobody.post("/oauth/token", body)
    headers = dict(FORM)
    if how == "basic":
        pair = f"{body.pop('client_id')}:{body.pop('client_secret')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return nobody.request("POST", "/oauth/token", urlencode(body).encode(), headers)


def token(party, **more):
    return party.with_token(well(ask(party, **more))["access_token"])


def oauth_error(answer, error, status=400):
    """Check an error of RFC 6749, section 5.2, with the fields of the envelope. Return its body."""
    assert answer.status == status, answer
    body = answer.json
    assert body["error"] == error, answer
    assert body["success"] is False
    assert body["message"]
    assert body["code"]
    return body


@pytest.mark.parametrize("how", KINDS)
def test_a_client_gets_a_token_and_uses_it(acme, how):
    """Contract 1: the body is a form or JSON. The client may authenticate by HTTP Basic.

    The answer has `access_token`, `token_type`, `expires_in` and `scope`.
    """
    answer = ask(acme, how)
    body = well(answer)
    assert body["token_type"] == "Bearer"
    assert isinstance(body["expires_in"], int)
    assert body["expires_in"] > 0
    assert {"fulfillments:read", "fulfillments:write", "catalog:read"} <= set(body["scope"].split())
    assert "no-store" in answer.headers["Cache-Control"]
    well(acme.with_token(body["access_token"]).get("fulfillments", {"limit": 1}))


def test_a_retailers_token_has_the_retailers_scopes(shop):
    """Contract 1: a key without a list of scopes has all scopes of its role."""
    body = well(ask(shop))
    assert {"orders:read", "orders:write", "catalog:read"} <= set(body["scope"].split())
    assert "fulfillments:write" not in body["scope"]
    well(shop.with_token(body["access_token"]).get("orders", {"limit": 1}))


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize(
    ("wrong", "value"), [("client_secret", "nonsense"), ("client_id", "nobody"), ("client_secret", "")]
)
def test_a_wrong_client_is_invalid_client(acme, how, wrong, value):
    """RFC 6749 5.2: the error is 401 `invalid_client`.

    After HTTP Basic, the answer has the header `WWW-Authenticate`.
    """
    answer = ask(acme, how, **{wrong: value})
    body = answer.json
    if value == "" and answer.status == 400:
        oauth_error(answer, "invalid_request")
        return
    oauth_error(answer, "invalid_client", 401)
    assert body["code"]
    if how == "basic":
        assert answer.headers["WWW-Authenticate"].startswith("Basic")


@pytest.mark.parametrize("how", KINDS)
def test_another_grant_is_unsupported(acme, how):
    """RFC 6749 5.2: the error is `unsupported_grant_type`."""
    oauth_error(ask(acme, how, grant_type="password"), "unsupported_grant_type")


@pytest.mark.parametrize("how", KINDS)
def test_a_missing_grant_type_is_an_invalid_request(acme, how):
    """RFC 6749 5.2: the error is `invalid_request` if a required parameter is missing."""
    oauth_error(ask(acme, how, grant_type=None), "invalid_request")


def test_a_missing_client_is_refused(acme):
    """RFC 6749 5.2: without client credentials, the error is 401 `invalid_client` or `invalid_request`."""
    answer = ask(acme, client_id=None, client_secret=None)
    assert (answer.status, answer.json["error"]) in [(401, "invalid_client"), (400, "invalid_request")], (
        answer
    )


@pytest.mark.parametrize("raw", [b"{", b"[]", b'"x"', b'{"grant_type": 5}', b"\xff"])
def test_a_broken_json_request_is_invalid(acme, raw):
    """RFC 6749 5.2: the error is `invalid_request`, with the fields of the envelope."""
    answer = acme.with_token("").post("/oauth/token", raw)
    assert answer.status in (400, 401), answer
    assert answer.json["error"] in ("invalid_request", "invalid_client", "unsupported_grant_type")
    assert answer.json["success"] is False


def test_a_parameter_twice_is_an_invalid_request(acme):
    """RFC 6749 3.2: a request must not repeat a parameter."""
    body = urlencode(
        [
            ("grant_type", "client_credentials"),
            ("grant_type", "client_credentials"),
            ("client_id", acme.about["client_id"]),
            ("client_secret", acme.about["client_secret"]),
        ]
    )
    oauth_error(acme.request("POST", "/oauth/token", body.encode(), FORM), "invalid_request")


def test_only_post_is_allowed(anyone):
    """RFC 6749 3.2: the client must use POST."""
    assert anyone.get("/oauth/token").status == 405


def test_a_scope_narrows_the_token(acme):
    """Contract 1: a token has only the requested scopes. Paths that need other scopes answer 403."""
    narrow = token(acme, scope="catalog:read")
    well(narrow.get("variants", {"limit": 1}))
    fault(narrow.get("fulfillments"), 403, "forbidden")
    fault(narrow.post("variants", {"sku": "x"}), 403, "forbidden")
    fault(narrow.post("inventory", {}), 403, "forbidden")


@pytest.mark.parametrize(
    ("one", "other"), [("catalog:read", "read:catalog"), ("fulfillments:read", "read:fulfillments")]
)
def test_scope_names_are_accepted_in_both_orders(acme, one, other):
    """Contract 1: the two words of a scope may be in either order."""
    assert well(ask(acme, scope=other))["access_token"]
    assert set(well(ask(acme, scope=one))["scope"].split()) == set(
        well(ask(acme, scope=other))["scope"].split()
    )


def test_the_former_scope_read_variants_means_catalog_read(acme, shop):
    """Contract 1: `read:variants` is a name of `catalog:read`."""
    narrow = token(acme, scope="read:variants")
    well(narrow.get("variants", {"limit": 1}))
    fault(narrow.get("fulfillments"), 403, "forbidden")
    well(token(shop, scope="read:variants").get("variants", {"service_type": "ecommerce", "limit": 1}))


def test_scopes_are_separated_by_spaces(acme):
    """RFC 6749 3.3: scopes are separated by spaces."""
    both = token(acme, scope="catalog:read fulfillments:read")
    well(both.get("variants", {"limit": 1}))
    well(both.get("fulfillments", {"limit": 1}))


@pytest.mark.parametrize(
    "scope", ["orders:write", "everything", "catalog:read orders:read", "catalog:delete", "catalog"]
)
def test_a_scope_outside_the_role_is_invalid(acme, scope):
    """Contract 12: a scope that the role does not have gets `invalid_scope`."""
    oauth_error(ask(acme, scope=scope), "invalid_scope")


def test_reading_does_not_include_writing(acme, shop):
    """Contract 1: a valid key without the needed scope gets 403."""
    _, held = one_fulfillment(acme, shop)
    narrow = token(acme, scope="fulfillments:read")
    well(narrow.get(f"fulfillments/{held['id']}"))
    fault(narrow.put(f"fulfillments/{held['id']}/setStatus/accepted", {}), 403, "forbidden")
    orders = token(shop, scope="orders:read")
    well(orders.get("orders", {"limit": 1}))
    fault(orders.post("orders", {}), 403, "forbidden")
    fault(orders.get("variants", {"service_type": "ecommerce"}), 403, "forbidden")


def test_product_jobs_need_catalog_scopes_and_stock_jobs_inventory_scopes(acme):
    """Contract 12: jobs of products need scopes of `catalog`, and jobs of stock scopes of `inventory`."""
    products, stock = (
        token(acme, scope="catalog:read catalog:write"),
        token(acme, scope="inventory:read inventory:write"),
    )
    body = {"data": ["sku,title,retail_price"]}
    job = well(products.post("importProducts", body), 201)
    well(products.get(f"imports/{job['id']}"))
    assert stock.get(f"imports/{job['id']}").status in (403, 404)
    fault(stock.post("importProducts", body), 403, "forbidden")
    fault(products.post("importInventory", {"url": "inventory/x.csv", "warehouse_id": 1}), 403, "forbidden")
    assert job["id"] not in [each["id"] for each in _jobs(stock)]


def _jobs(party):
    body = well(party.get("imports"))
    return body["results"] if isinstance(body, dict) else body


def test_events_show_only_data_that_the_scopes_cover(acme, shop):
    """Contract 12: each key of a party reads the events that its scopes allow."""
    after = _last_event(acme)
    one_fulfillment(acme, shop)
    new_variant(acme)
    fulfilling = well(token(acme, scope="fulfillments:read").get("events", {"after": after}))["results"]
    selling = well(token(acme, scope="catalog:read").get("events", {"after": after}))["results"]
    assert not [event for event in selling if event.get("fulfillment_id")]
    assert all(event.get("import_id") is None for event in fulfilling)


def _last_event(party):
    after, answer = 0, party.get("events", {"limit": 500})
    while found := well(answer)["results"]:
        after = found[-1]["id"]
        answer = party.get("events", {"limit": 500, "after": after})
    return after


def test_a_token_of_one_party_gives_no_access_to_another_party(acme, rival):
    """Contract 1: the id of another party in the path gets 403."""
    fault(token(acme).get(f"{rival.base}/fulfillments"), 403, "forbidden")


def test_the_token_answer_is_json(acme):
    """RFC 6749 5.1: the answer is application/json."""
    answer = ask(acme, "form")
    assert answer.headers.get_content_type() == "application/json"
    assert json.loads(answer.raw)["access_token"]
