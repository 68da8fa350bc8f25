"""DATABASE_URL names one host, or several hosts of which one accepts writes."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.database import parse_url


def test_a_url_with_one_host_stays_unchanged():
    found = parse_url("postgresql://exchange:p%40ss@db:6432/exchange")
    assert (found["HOST"], found["PORT"], found["PASSWORD"]) == ("db", 6432, "p@ss")


@pytest.mark.parametrize(
    ("places", "hosts", "ports"),
    [
        ("one:5432,two:6432", "one,two", "5432,6432"),
        ("one,two:6432", "one,two", "5432,6432"),
        ("[::1]:5433,two:5432", "::1,two", "5433,5432"),
        ("two:5432,[::1]:5433", "two,::1", "5432,5433"),
    ],
)
def test_several_hosts_keep_their_ports(places, hosts, ports):
    found = parse_url(f"postgresql://exchange:p%40ss@{places}/exchange?target_session_attrs=read-write")
    assert found["OPTIONS"] == {"host": hosts, "port": ports, "target_session_attrs": "read-write"}
    assert (found["HOST"], found["NAME"], found["PASSWORD"]) == ("", "exchange", "p@ss")


def test_hosts_that_cannot_be_read_are_named():
    with pytest.raises(ImproperlyConfigured, match="one:x,two"):
        parse_url("postgresql://exchange@one:x,two/exchange")


@pytest.mark.parametrize("url", ["postgresql:exchange", "postgresql://exchange@[::1/exchange"])
def test_other_urls_are_refused_with_an_example(url):
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL is postgres://user:password@host:5432/name"):
        parse_url(url)
