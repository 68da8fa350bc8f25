"""Addresses of clients, in the form in which they are stored and counted."""

from __future__ import annotations

from sftp_ingest.server.addresses import plain_address, source_of


def test_one_network_of_ipv6_is_one_address():
    assert source_of("2001:db8:1:2::1") == source_of("2001:db8:1:2:ffff::9")
    assert source_of("2001:db8:1:2::1") != source_of("2001:db8:1:3::1")
    assert source_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert plain_address("fe80::1%eth0") == "fe80::1"
