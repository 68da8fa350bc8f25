"""Rate limits count requests exactly."""

import socket
import time

import pytest
from django.core.exceptions import ValidationError

from accounts import rates
from api.redis_clients import redis_client
from tests.factories import IssuedKeyFactory
from tests.interleaving import race

pytestmark = pytest.mark.django_db


def test_every_answer_shows_the_remaining_requests(acme, rival, client_for):
    client = client_for(acme, rate_limit="3/min")
    answers = [client.get(path) for path in ("", f"/v3/suppliers/{rival.pk}", "events?limit=0", "")]

    assert [answer.status_code for answer in answers] == [200, 403, 400, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"3"}
    assert all(1 <= int(answer.headers["RateLimit-Reset"]) <= 60 for answer in answers)
    assert {answer.headers["RateLimit-Policy"] for answer in answers} == {'"key";q=3;w=60'}
    for answer, left in zip(answers, "2100", strict=True):
        assert answer.headers["RateLimit"] == f'"key";r={left};t={answer.headers["RateLimit-Reset"]}'


def test_a_request_beyond_the_rate_gets_429_with_the_time_to_wait(acme, client_for):
    client = client_for(acme, rate_limit="1/min")
    client.get("")
    answer = client.get("")
    assert answer.json()["code"] == "rate_limited"
    assert answer.headers["Retry-After"] == answer.headers["RateLimit-Reset"]


def test_each_key_has_a_count_of_its_own(acme, client_for):
    one, other = (client_for(acme, rate_limit="1/min") for _ in range(2))
    assert [client.get("").status_code for client in (one, one, other)] == [200, 429, 200]


def test_a_key_with_the_rate_off_has_no_limit(acme, client_for, settings):
    settings.RATE_LIMIT = "1/min"
    client = client_for(acme, rate_limit="off")
    answers = [client.get("") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert "RateLimit-Limit" not in answers[0].headers


def test_the_setting_holds_for_keys_without_a_rate_of_their_own(acme, client_for, settings):
    settings.RATE_LIMIT = "2/min"
    client = client_for(acme)
    assert [client.get("").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_are_counted_exactly(acme, client_for):
    client = client_for(acme, rate_limit="5/min")

    def four():
        return [client.get("").status_code for _ in range(4)]

    statuses = [status for each in race(four, four, four) for status in each]
    assert sorted(statuses) == [200] * 5 + [429] * 7


def test_without_redis_requests_pass_and_only_the_first_tries_redis(acme, client_for, monkeypatch, caplog):
    dead = rates.Counter("redis://127.0.0.1:1/0")
    monkeypatch.setattr("accounts.throttling.counter", lambda: dead)
    # After a failed call, the counter makes no call to Redis for the seconds of PAUSE. Make PAUSE long, so
    # that it cannot end before the third request on a busy machine.
    monkeypatch.setattr(rates, "PAUSE", 3600.0)
    client = client_for(acme, rate_limit="1/min")

    assert [client.get("").status_code for _ in range(3)] == [200, 200, 200]
    assert len([line for line in caplog.messages if "not counted" in line]) == 1


def test_a_silent_redis_delays_only_one_request(monkeypatch):
    monkeypatch.setattr(rates, "TIMEOUT", 0.05)
    monkeypatch.setattr(rates, "PAUSE", 3600.0)
    with socket.create_server(
        ("127.0.0.1", 0), backlog=50
    ) as nobody:  # a server that accepts connections and never answers
        silent = rates.Counter(f"redis://127.0.0.1:{nobody.getsockname()[1]}/0")
        rate = rates.parse_rate("1/min")
        assert rate is not None
        assert [silent.hit(rate, "x") for _ in range(50)] == [None] * 50
        nobody.accept()[0].close()
        nobody.setblocking(False)
        with pytest.raises(BlockingIOError):  # no second connection: the other 49 calls did not try Redis
            nobody.accept()


@pytest.mark.parametrize(
    ("text", "amount", "seconds"),
    [
        ("6000/min", 6000, 60),
        ("10/s", 10, 1),
        (" 5 / Hour ", 5, 3600),
        ("1/day", 1, 86400),
        ("7/minute", 7, 60),
    ],
)
def test_rates_are_read_as_people_write_them(text, amount, seconds):
    rate = rates.parse_rate(text)
    assert rate is not None
    assert (rate.amount, rate.get_expiry()) == (amount, seconds)


@pytest.mark.parametrize("text", ["", "6000", "0/min", "-1/min", "1/fortnight", "many", "1/min;2/s"])
def test_an_invalid_rate_is_refused_in_the_form(acme, text):
    with pytest.raises(ValueError, match="is not a rate"):
        rates.parse_rate(text)
    if text:
        key, _ = IssuedKeyFactory.create(party=acme)
        key.rate_limit = text
        with pytest.raises(ValidationError, match="is not a rate"):
            key.full_clean()


def test_no_count_is_lost_when_redis_closes_the_connection_and_forgets_its_scripts(settings):
    counter, rate = rates.Counter(settings.REDIS_URL), rates.parse_rate("10/min")
    assert rate is not None
    name = f"closed:{time.monotonic()}"
    counter.hit(rate, name)
    own = counter._hit._connections.current()
    own.send_command("CLIENT", "ID")
    number = own.read_response(disconnect_on_error=True)
    with redis_client(settings.REDIS_URL, seconds=5.0) as other:
        other.client_kill_filter(_id=number)
        other.script_flush()

    count = counter.hit(rate, name)
    assert count is not None
    assert (count.allowed, count.remaining) == (True, 8)


def test_a_forked_process_does_not_use_its_parents_connection(settings, monkeypatch):
    connections = rates.Connections(settings.REDIS_URL)
    own = connections.current()
    assert connections.current() is own

    monkeypatch.setattr("accounts.rates.os.getpid", lambda: 0)
    assert connections.current() is not own
