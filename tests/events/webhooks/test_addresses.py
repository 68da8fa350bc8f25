"""The allowed and the refused URLs and addresses of partners' webhooks."""

import ipaddress

import pytest

from events.webhooks.addresses import is_allowed, is_listed
from events.webhooks.targets import WrongWebhookUrl, parse_url


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("255.255.255.255", "224.0.0.1", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1"),
        *("ff02::1", "ff0e::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "2002:a00:1::", "2001:db8::1", "240.0.0.1", "203.0.113.9", "192.88.99.1"),
        *("192.0.0.1", "192.0.0.9", "192.0.0.170", "::10.0.0.1", "::808:808", "fec0::1", "febf::1", "100::1"),
        *(
            "64:ff9b:1::808:808",
            "64:ff9b:1::a00:1",
            "2001:2::1",
            "2001:10::1",
            "3fff::1",
            "5f00::1",
            "4000::1",
        ),
        *("2001:0:808:808::f7f7:f7f7", "::ffff:0:a00:1", "2002:c000:1::", "64:ff9b::c000:1"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address):
    assert not is_allowed(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
)
def test_a_public_address_may_be_called(address):
    assert is_allowed(ipaddress.ip_address(address))


def test_a_listed_network_may_be_called(settings):
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd00::/8")]
    for text, listed in [("10.1.2.3", True), ("fd00::9", True), ("10.2.0.1", False), ("8.8.8.8", False)]:
        address = ipaddress.ip_address(text)
        assert is_listed(address) is listed
    assert is_allowed(ipaddress.ip_address("10.1.2.3"))
    assert not is_allowed(ipaddress.ip_address("10.2.0.1"))


@pytest.mark.parametrize(
    ("url", "host", "port", "path", "authority"),
    [
        ("https://shop.example", "shop.example", 443, "/", "shop.example"),
        (
            "https://shop.example:8443/a?b=c d".replace(" ", "%20"),
            "shop.example",
            8443,
            "/a?b=c%20d",
            "shop.example:8443",
        ),
        ("https://Shop.Example/ä", "shop.example", 443, "/%C3%A4", "shop.example"),
        ("https://bücher.example/", "xn--bcher-kva.example", 443, "/", "xn--bcher-kva.example"),
        ("https://[2606:4700::1111]:444/", "2606:4700::1111", 444, "/", "[2606:4700::1111]:444"),
    ],
)
def test_a_url_is_parsed(url, host, port, path, authority):
    target = parse_url(url)
    assert (target.host, target.port, target.path, target.authority) == (host, port, path, authority)


@pytest.mark.parametrize(
    "url",
    [
        *("", "https://", "https:///x", "//shop.example/", "javascript:alert(1)", "https://a b.example/"),
        *("https://shop.example/\r\nX: y", "https://shop.example\\@127.0.0.1/", "https://127.1/"),
        *("https://0x7f000001/", "https://017700000001/", "https://shop.example:0/", "https://x.example/#a"),
        *("https://localhost/", "https://intranet/hooks", "https://shop.local./", "https://a.b.internal/"),
        *("https://-.example/", "https://[::1%eth0]/", "https://[fe80::1]/", "https://a..b/"),
    ],
)
def test_an_invalid_url_is_refused(url):
    with pytest.raises(WrongWebhookUrl):
        parse_url(url)


def test_a_local_name_is_allowed_if_addresses_that_are_not_public_are(settings):
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("10.1.0.0/16")]
    assert parse_url("https://intranet/hooks").host == "intranet"
