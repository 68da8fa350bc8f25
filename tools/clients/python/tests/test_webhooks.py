"""Deliveries with valid and invalid signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from exchange_client import InvalidSignature, verify

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes....").decode()
OLD = "whsec_" + base64.b64encode(b"the one before it, as long......").decode()
BODY = b'{"id": 12, "type": "order.created", "data": {"name": "K\xc3\xa4the"}}'
NOW = 1_790_000_000


def delivery(*secrets, stamp=NOW, body=BODY):
    content = f"e-12.{stamp}.".encode() + body
    signed = [hmac.new(base64.b64decode(each[6:]), content, hashlib.sha256).digest() for each in secrets]
    signatures = " ".join(f"v1,{base64.b64encode(each).decode()}" for each in signed)
    return {"Webhook-Id": "e-12", "Webhook-Timestamp": str(stamp), "Webhook-Signature": signatures}


def test_the_event_of_a_signed_delivery():
    assert verify(SECRET, delivery(SECRET), BODY, now=NOW)["data"]["name"] == "Käthe"


@pytest.mark.parametrize(
    ("signed_with", "held"), [([OLD, SECRET], [SECRET]), ([OLD, SECRET], [OLD]), ([SECRET], [OLD, SECRET])]
)
def test_while_one_secret_follows_another_either_will_do(signed_with, held):
    assert verify(held, delivery(*signed_with), BODY, now=NOW)["id"] == 12


@pytest.mark.parametrize("age", [301, -301])
def test_what_is_not_of_now_is_refused(age):
    with pytest.raises(InvalidSignature, match="old"):
        verify(SECRET, delivery(SECRET, stamp=NOW - age), BODY, now=NOW)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (delivery(OLD), BODY),
        (delivery(SECRET), BODY + b" "),
        (delivery(SECRET) | {"Webhook-Id": "e-13"}, BODY),
        (delivery(SECRET) | {"Webhook-Timestamp": str(NOW + 1)}, BODY),
        (delivery(SECRET) | {"Webhook-Timestamp": "soon"}, BODY),
        (delivery(SECRET) | {"Webhook-Signature": "v1,\u00e4 v2 ,"}, BODY),
        ({}, BODY),
    ],
)
def test_what_is_not_signed_is_refused(headers, body):
    with pytest.raises(InvalidSignature):
        verify([SECRET], headers, body, now=NOW)
