"""Rules of all paths: the order of checks, allowed methods, wrong paths, and the headers of answers."""

import pytest
from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]


@pytest.fixture
def acme_client(acme, client_for):
    return client_for(acme)


def test_faults_are_reported_in_the_contracts_order(acme, rival, client_for, anonymous):
    """The order is 401, 403, 404, 405, 406, 415, unreadable body, fields.

    Each request has the expected fault and also faults that are checked later.
    """
    wrong = {"Accept": "text/csv", "Content_Type": "text/plain"}
    own = client_for(acme)
    no_scope = client_for(acme, scopes=["inventory:read"])
    gone, there = f"/v3/suppliers/{acme.pk}/probe/0", f"/v3/suppliers/{acme.pk}/probe/1"

    def code(client, method, path, body=b"{", **headers):
        answer = client.request(method, path, body, **headers)
        return answer.status_code, answer.json()["code"]

    assert code(anonymous, "DELETE", gone, **wrong) == (401, "unauthorized")
    assert code(client_for(rival), "DELETE", gone, **wrong) == (403, "forbidden")
    assert code(no_scope, "DELETE", gone, **wrong) == (403, "forbidden")
    assert code(own, "DELETE", gone, **wrong) == (404, "not_found")
    assert code(own, "DELETE", there, **wrong) == (405, "method_not_allowed")
    assert code(own, "PUT", there, **wrong) == (406, "not_acceptable")
    assert code(own, "PUT", there, Content_Type="text/plain") == (415, "unsupported_media_type")
    assert code(own, "PUT", there) == (400, "invalid_json")
    assert code(own, "POST", f"/v3/suppliers/{acme.pk}/probe", b"{}") == (400, "missing_parameter")
    assert own.request("DELETE", there).json()["message"] == f"{there} takes PUT, OPTIONS, not DELETE."


def test_an_address_with_too_many_parameters_is_refused(acme, client_for, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
    answer = client_for(acme).get(f"variants?{'&'.join(['a'] * 1001)}")
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert "1000" in answer.json()["message"]


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("text/html,application/xhtml+xml,*/*;q=0.8", 200),
        ("application/json;q=0.5", 200),
        ("application/json; charset=utf-8", 200),
        ("text/csv", 406),
        ("application/json;q=0", 406),
        ("application/json;q=0, */*", 406),
        ("text/html, application/xml;q=0.9", 406),
        ("nonsense", 406),
        (";;,,q=x", 406),
    ],
)
def test_only_an_accept_that_rules_out_json_is_406(acme_client, accept, status):
    assert acme_client.get("probe", Accept=accept).status_code == status


def test_406_and_415_name_the_remedy(acme_client):
    refused = acme_client.get("probe", Accept="text/csv")
    assert (refused.status_code, "Accept: application/json" in refused.json()["message"]) == (406, True)
    refused = acme_client.post("probe", b"name=a", Content_Type="application/x-www-form-urlencoded")
    assert (refused.status_code, refused.headers["Accept"]) == (415, "application/json")
    assert "Content-Type: application/json" in refused.json()["message"]


def test_the_root_address_shows_the_main_addresses():
    page = Client().get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page.headers["Content-Type"].startswith("text/html")
    for path in ("/v3/docs", "/v3/schema", "/admin/"):
        assert f'href="{path}"' in page.content.decode()
        assert Client().get(path, follow=True).status_code == 200

    plain = Client().get("/", headers={"Accept": "application/json"})
    assert plain.json()["docs"] == "http://testserver/v3/docs"
    assert plain.headers["Vary"] == "Accept"
    assert Client().post("/").json()["code"] == "method_not_allowed"


def test_a_405_names_the_allowed_methods(acme_client):
    answer = acme_client.request("PATCH", "probe", {})
    assert answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS"


def test_head_is_get_without_the_body(acme_client):
    answer = acme_client.request("HEAD", "probe")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["RateLimit-Limit"] == "6000"


def test_options_lists_the_methods_and_changes_nothing(acme_client):
    answer = acme_client.request("OPTIONS", "probe")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "POST" in answer.headers["Allow"]


def test_one_trailing_slash_is_tolerated_without_a_redirect(acme_client):
    path = f"{acme_client.base}/probe"
    assert acme_client.post(f"{path}/", {"name": "a"}).status_code == 201
    assert acme_client.get(f"{path}//").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/v3/nothing", "/v3", "/v3/suppliers", "/nothing", "/%00", "/v3/%ff%fe", "/v3/../admin", "/oauth"],
)
def test_an_unknown_path_is_a_404_in_json_with_a_key_or_without(acme_client, anonymous, path):
    for client in (acme_client, anonymous):
        for method in ("GET", "POST", "DELETE"):
            answer = client.request(method, path, b"{")
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            assert answer.json()["request_id"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("path", "proper"),
    [
        ("/v3//suppliers/7//probe", "/v3/suppliers/7/probe"),
        (
            "/V3/Suppliers/7/Fulfillments/1/setstatus/Accepted",
            "/v3/suppliers/7/fulfillments/1/setStatus/accepted",
        ),
    ],
)
def test_a_misspelled_path_is_answered_with_the_correct_path(anonymous, path, proper):
    answer = anonymous.get(path)
    assert answer.status_code == 404
    assert answer.json()["message"] == f"There is nothing at {path}. Did you mean {proper}?"


def test_a_number_where_a_text_belongs_has_to_be_written_in_quotes(acme_client):
    answer = acme_client.post("probe", {"name": 4101})
    assert answer.json()["errors"][0]["message"].startswith("Must be a string: write it in quotes")


@pytest.mark.parametrize(
    "spelt", ["abc", "0", "-1", "01", "1.0", "9" * 30, "%D9%A3", "1%00", " 1", "1_0", "%20"]
)
def test_a_text_that_is_not_an_id_gets_a_plain_404(acme_client, spelt):
    assert acme_client.request("PUT", f"probe/{spelt}").status_code == 404
    assert acme_client.get(f"/v3/suppliers/{spelt}/probe").status_code == 403


@pytest.mark.parametrize("query", ["a=%00", "a=%ff", "a=%ed%a0%80", "&&==&a", "a=" + "x" * 4000])
def test_unusual_query_strings_cause_no_500(acme_client, query):
    assert acme_client.get(f"probe?{query}").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "a b", "[::1", ""])
def test_a_foreign_host_is_refused_in_json(host):
    answer = Client(raise_request_exception=False).get("/v3/schema", headers={"Host": host})
    assert (answer.status_code, answer.json()["success"]) == (400, False)


def test_a_valid_request_id_of_the_client_is_kept(acme_client):
    assert acme_client.get("probe", X_Request_Id="erp-4711/a").headers["X-Request-Id"] == "erp-4711/a"


@pytest.mark.parametrize("odd", ["", "a b", "x" * 101, "é", "<script>"])
def test_an_invalid_request_id_is_replaced(acme_client, odd):
    chosen = acme_client.get("probe", X_Request_Id=odd).headers["X-Request-Id"]
    assert len(chosen) == 32


def test_an_unexpected_error_is_answered_in_the_envelope_without_a_traceback(acme_client, caplog):
    answer = acme_client.post("probe", {"name": "die"})

    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "Traceback" not in answer.content.decode()
    assert "MemoryError" in caplog.text


def test_unavailable_says_when_to_come_back(acme_client):
    answer = acme_client.post("probe", {"name": "down"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/v3/suppliers/1/fulfilments", "Did you mean /v3/suppliers/1/fulfillments?"),
        (
            "/v3/suppliers/1/fulfillments/7/setStatus/shiped",
            "Did you mean /v3/suppliers/1/fulfillments/7/setStatus/shipped?",
        ),
        ("/v3/retailer/1/orders", "Did you mean /v3/retailers/1/orders?"),
        (
            "/v3/suppliers/1/fulfillments/7/shipments",
            "Known after /v3/suppliers/1/fulfillments/7/shipments/: {shipment_id}.",
        ),
        ("/v3/suppliers/1/zebras", "/v3/docs lists the paths."),
        ("/zebras", "/v3/docs lists the paths."),
    ],
)
def test_a_wrong_path_leads_to_the_right_one(path, hint):
    answer = Client().get(path)
    assert (answer.status_code, answer.json()["message"]) == (404, f"There is nothing at {path}. {hint}")


def test_an_unknown_status_in_a_path_lists_the_known_ones():
    message = Client().put("/v3/suppliers/1/fulfillments/7/setStatus/delivered").json()["message"]
    known = message.partition("/setStatus/: ")[2].rstrip(".").split(", ")
    assert {"accepted", "shipped", "out_of_stock", "canceled"} <= set(known)
    assert [word for word in known if "not" in word] == ["cancelation_not_allowed"], "each status once"
