"""The first answer under an idempotency key is stored, and repeated for the same request (contract 2, 12)."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import IdempotencyKey, Retailer
from tests.api import probe
from tests.factories import RetailerFactory
from tests.interleaving import race

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]


@pytest.fixture
def acme_client(acme, client_for):
    return client_for(acme)


def post(client, body, key="k-1", path="probe", **headers):
    return client.post(path, body, Idempotency_Key=key, **headers)


def test_the_first_answer_is_replayed(acme_client):
    first = post(acme_client, {"name": "a", "price": 19.9})
    again = post(acme_client, {"name": "a", "price": 19.9})

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert again.headers["RateLimit-Remaining"] == "5998"
    assert Retailer.objects.count() == 1


def test_another_body_under_the_same_key_is_a_conflict(acme_client):
    post(acme_client, {"name": "a"})
    answer = post(acme_client, {"name": "b"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_conflict")
    assert not Retailer.objects.filter(name="b").exists()


def test_another_path_under_the_same_key_is_a_conflict(acme_client):
    post(acme_client, {"name": "a"})
    assert post(acme_client, {"name": "a"}, path="variants").json()["code"] == "idempotency_conflict"


def test_a_repetition_may_have_other_query_parameters_which_are_ignored(acme_client):
    """Some clients add the time to each URL, so the repetition of a request has another URL."""
    first = post(acme_client, {"name": "a"}, path="probe?_=1700000000001")
    for path in ("probe?_=1700000000002", "probe", "probe/?x=1&x=2"):
        again = post(acme_client, {"name": "a"}, path=path)
        assert (again.status_code, again.headers.get("Idempotent-Replayed")) == (201, "true")
        assert again.content == first.content
    assert Retailer.objects.count() == 1


def test_keys_belong_to_their_party(acme, rival, client_for):
    answers = [post(client_for(party), {"name": party.name}) for party in (acme, rival)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert all("Idempotent-Replayed" not in answer.headers for answer in answers)


def test_all_api_keys_of_a_party_share_its_idempotency_keys(acme, client_for):
    post(client_for(acme), {"name": "a"})
    assert post(client_for(acme), {"name": "a"}).headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    ("body", "status"),
    [({"name": "conflict"}, 409), ({"name": ""}, 400), (b"{", 400)],
)
def test_a_refusal_is_stored_without_the_started_work(acme_client, body, status):
    first, again = (post(acme_client, body) for _ in range(2))
    assert (first.status_code, again.status_code) == (status, status)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json()["request_id"] == first.json()["request_id"]
    assert not Retailer.objects.exists()


def test_a_refusal_for_path_or_headers_is_stored_too(acme_client):
    for headers, status in (({"Accept": "text/csv"}, 406), ({"Content_Type": "text/csv"}, 415)):
        key = f"k-{status}"
        assert post(acme_client, {"name": "a"}, key, **headers).status_code == status
        again = post(acme_client, {"name": "a"}, key)
        assert (again.status_code, again.headers["Idempotent-Replayed"]) == (status, "true")


def test_a_server_error_is_not_stored(acme_client):
    for name, status in (("down", 503), ("die", 500)):
        assert post(acme_client, {"name": name}, name).status_code == status
    assert not IdempotencyKey.objects.exists()
    assert not Retailer.objects.exists()


def test_401_403_and_429_are_not_stored(acme, client_for, anonymous):
    path, body = f"/v3/suppliers/{acme.pk}/probe", {"name": "a"}
    assert post(anonymous, body, path=path).status_code == 401
    assert post(client_for(acme, scopes=["catalog:read"]), body).status_code == 403
    slow = client_for(acme, rate_limit="1/min")
    slow.get("probe")
    assert post(slow, body).status_code == 429
    assert post(client_for(acme), body).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_an_empty_or_too_long_key_is_refused(acme_client, key):
    answer = post(acme_client, {"name": "a"}, key)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "Idempotency-Key")


def test_the_longest_key_and_unusual_characters_are_accepted(acme_client):
    assert post(acme_client, {"name": "a"}, "x" * 255).status_code == 201
    assert post(acme_client, {"name": "b"}, "' OR 1=1 -- é %s").status_code == 201


def test_a_key_can_be_used_again_after_its_retention(acme_client, settings):
    post(acme_client, {"name": "a"})
    old = timezone.now() - settings.IDEMPOTENCY_RETENTION - timedelta(seconds=1)
    IdempotencyKey.objects.update(created_at=old)
    assert post(acme_client, {"name": "b"}).status_code == 201
    assert post(acme_client, {"name": "b"}).headers["Idempotent-Replayed"] == "true"


def test_only_answers_to_posts_are_stored(acme_client):
    acme_client.request("PUT", "probe/1", {}, Idempotency_Key="k")
    acme_client.get("probe", Idempotency_Key="k")
    assert not IdempotencyKey.objects.exists()


def racing_pair(client, monkeypatch):
    """Send two equal requests, and return their answers.

    The second request begins while the first request is running.
    """
    inside, go_on = threading.Event(), threading.Event()
    original = probe.ProbeViewSet.make

    def slow(self, request, **kwargs):
        first = not inside.is_set()
        inside.set()
        if first:
            assert go_on.wait(60)
        return original(self, request, **kwargs)

    monkeypatch.setattr(probe.ProbeViewSet, "make", slow)

    def second():
        assert inside.wait(60)
        try:
            return post(client, {"name": "a"})
        finally:
            go_on.set()

    return race(lambda: post(client, {"name": "a"}), second)


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_requests_runs_and_the_other_gets_in_progress(acme, client_for, monkeypatch):
    first, second = racing_pair(client_for(acme), monkeypatch)

    assert first.status_code == 201
    assert (second.status_code, second.json()["code"]) == (409, "in_progress")
    again = post(client_for(acme), {"name": "a"})
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")


@pytest.mark.django_db(transaction=True)
def test_without_the_lock_both_would_run(acme, client_for, monkeypatch):
    """Prove that the lock is necessary: without it, both requests of the same race run."""
    monkeypatch.setattr("accounts.idempotency._try_lock", lambda *_: True)
    first, second = racing_pair(client_for(acme), monkeypatch)
    assert 409 not in (first.status_code, second.status_code)
    assert 500 in (first.status_code, second.status_code)  # only the unique constraint prevents a second row


@pytest.mark.django_db(transaction=True)
def test_a_killed_request_leaves_nothing_behind(acme, client_for, monkeypatch):
    """A process that is killed during the work loses its connection, its lock, its row and its changes."""

    def die(self, request, **kwargs):
        RetailerFactory.create(name="half")
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(probe.ProbeViewSet, "make", die)
        with pytest.raises(SystemExit):
            post(client_for(acme), {"name": "a"})
    assert not Retailer.objects.exists()
    assert not IdempotencyKey.objects.exists()
    assert post(client_for(acme), {"name": "a"}).status_code == 201
