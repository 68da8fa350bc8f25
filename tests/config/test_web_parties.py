"""The party for which a request counts: the owner of its accepted credential, or else its address."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from api.client_networks import network_of
from config.web.parties import Caller, Callers, Parties, Stranger

PEER = "192.0.2.1"


def caller(*headers: tuple[str, str], behind_proxy: bool = False, path: str = "/v3/orders") -> Caller:
    callers = Callers(behind_proxy=behind_proxy, session_cookie="sessionid")
    return callers.read(SimpleNamespace(headers=[*headers], path=path), PEER)


def key(name: str) -> tuple[str, str]:
    return ("AUTHORIZATION", f"Bearer {name}")


def test_unknown_keys_of_an_address_share_one_party():
    parties = Parties()
    assert parties.of(caller(key("a"))) == parties.of(caller(key("b"))) == Stranger(PEER)


def test_accepted_keys_count_for_their_party_until_they_fail():
    parties = Parties()
    for name in "ab":
        parties.learn(caller(key(name)).credential, "supplier:7")
    assert parties.of(caller(key("a"))) == parties.of(caller(key("b"))) == "supplier:7"
    parties.forget(caller(key("a")).credential)
    assert parties.of(caller(key("a"))) == Stranger(PEER)


def test_a_session_counts_for_its_user():
    parties = Parties()
    signed_in = caller(("COOKIE", "theme=dark; sessionid=abc"))
    parties.learn(signed_in.credential, "user:1")
    assert parties.of(caller(("COOKIE", "sessionid=abc"))) == "user:1"
    assert parties.of(caller(("COOKIE", "xsessionid=abc"))) == Stranger(PEER)
    assert parties.of(caller()) == Stranger(PEER)


@pytest.mark.parametrize(
    ("behind_proxy", "address"), [(True, "203.0.113.9"), (False, PEER)], ids=["proxy", "no proxy"]
)
def test_only_our_proxy_may_name_the_address(behind_proxy, address):
    forwarded = ("X-FORWARDED-FOR", "198.51.100.1, 203.0.113.9")
    assert caller(forwarded, behind_proxy=behind_proxy).stranger == Stranger(address)


def test_a_refused_address_may_still_send_known_keys_or_no_key():
    parties = Parties()
    parties.learn(caller(key("good")).credential, "supplier:7")
    parties.refuse(Stranger(PEER), 60.0)
    assert parties.refused_for(caller(key("wrong")), 10.0) == 50.0
    assert parties.refused_for(caller(key("wrong")), 60.0) == 0.0
    assert parties.refused_for(caller(key("good")), 10.0) == 0.0
    assert parties.refused_for(caller(), 10.0) == 0.0
    assert parties.refused_for(caller(path="/oauth/token"), 10.0) == 50.0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("nonsense", "nonsense"),
    ],
)
def test_all_addresses_of_an_ipv6_subscriber_count_as_one(address, network):
    assert network_of(address) == network
