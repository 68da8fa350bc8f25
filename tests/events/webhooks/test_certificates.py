"""Webhooks go only to receivers whose certificate is trusted, valid now and for the host of the URL."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from events.webhooks.sending.http_client import ReceiverAnswer
from tests.events.webhooks.receiving import ReceiverServer, receiver
from tests.events.webhooks.test_http_client import names, post  # noqa: F401

pytestmark = pytest.mark.usefixtures("_local_receivers")

HOST = "shop.example"
Certified = Callable[..., Path]


@pytest.fixture
def certificate(tmp_path: Path) -> Certified:
    """Return a function that writes a self-signed certificate and its key to a file, and returns the file."""

    def make(host: str = HOST, *, ends: timedelta = timedelta(days=1)) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=10))
            .not_valid_after(now + ends)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        encoding = serialization.Encoding.PEM
        secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file = tmp_path / "certificate.pem"
        file.write_bytes(secret + made.public_bytes(encoding))
        return file

    return make


@pytest.fixture
def answer(names: dict[str, list[str]]) -> Callable[[Path], tuple[ReceiverAnswer, ReceiverServer]]:  # noqa: F811
    """Return a function that sends a webhook to a receiver with this certificate.

    It returns the result and the receiver.
    """
    names[HOST] = ["127.0.0.1"]

    def send(file: Path) -> tuple[ReceiverAnswer, ReceiverServer]:
        with _secured(file) as server:
            [result] = post(f"https://{HOST}:{server.port}/")
        return result, server

    return send


@contextmanager
def _secured(file: Path) -> Iterator[ReceiverServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with receiver(tls=context) as server:
        yield server


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Return a function that makes this certificate an authority which the client trusts."""
    return lambda file: monkeypatch.setenv("SSL_CERT_FILE", str(file))


def test_a_trusted_certificate_of_the_host_is_accepted(certificate, trust, answer):
    file = certificate()
    trust(file)
    result, server = answer(file)
    assert result.taken
    assert len(server.posts) == 1


def test_an_untrusted_certificate_is_refused(certificate, answer):
    result, server = answer(certificate())
    assert result.error == "The receiver's certificate is not trusted: self-signed certificate."
    assert server.posts == []


def test_a_certificate_of_another_host_is_refused(certificate, trust, answer):
    file = certificate("other.example")
    trust(file)
    result, server = answer(file)
    assert "certificate is not trusted: Hostname mismatch" in result.error
    assert server.posts == []


def test_a_certificate_that_has_expired_is_refused(certificate, trust, answer):
    file = certificate(ends=timedelta(days=-1))
    trust(file)
    result, server = answer(file)
    assert result.error == "The receiver's certificate is not trusted: certificate has expired."
    assert server.posts == []
