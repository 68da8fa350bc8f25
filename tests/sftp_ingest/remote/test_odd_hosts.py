"""A host that answers with anything but SFTP, or whose name cannot exist, is reported with its reason."""

from __future__ import annotations

import paramiko
import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from imports.fetching import fetch_file
from imports.models import ImportJob, Status
from sftp_ingest.models import RemoteHost
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.remote.probing import probe
from sftp_ingest.server.subsystem import Subsystem
from tests.factories import ImportJobFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chatty(registered: RemoteHost, settings, monkeypatch) -> RemoteHost:
    """Let the host's login scripts print a greeting before SFTP begins."""
    settings.SFTP_PORT = 1  # a wrong port, so that the URLs below do not name this service
    begin = Subsystem._send_server_version

    def greet(subsystem: Subsystem) -> None:
        subsystem.sock.sendall(b"Welcome to our server\n")
        begin(subsystem)

    monkeypatch.setattr(Subsystem, "_send_server_version", greet)
    return registered


def waiting_job(host: RemoteHost) -> ImportJob:
    return ImportJobFactory.create(
        supplier=host.supplier, source=f"sftp://{host}/out.csv", options={"remote": True}
    )


def test_an_import_from_a_host_that_prints_text_fails_with_the_reason(chatty: RemoteHost):
    job = waiting_job(chatty)

    assert not fetch_file(job.pk)

    job.refresh_from_db()
    assert job.error is not None
    assert (job.status, job.error["code"]) == (Status.FAILED, "remote_failed")
    assert "login scripts" in job.error["message"]


def test_an_operator_reads_why_the_host_failed(chatty: RemoteHost, page: Client):
    answer = page.post(f"/admin/sftp_ingest/remotehost/{chatty.pk}/do/test/", follow=True)

    assert answer.status_code == 200
    assert "login scripts" in answer.content.decode()


def test_file_names_that_are_not_utf_8_are_a_reason(registered: RemoteHost, monkeypatch):
    send = Subsystem._send_packet

    def send_in_latin_1(subsystem: Subsystem, kind: int, packet: paramiko.Message) -> None:
        send(subsystem, kind, paramiko.Message(packet.asbytes().replace(b"products", b"pr\xf6ducts")))

    monkeypatch.setattr(Subsystem, "_send_packet", send_in_latin_1)

    with pytest.raises(RemoteFailed, match="UTF-8"):
        probe(registered)


@pytest.mark.parametrize("name", ["files..example", f"{'a' * 64}.example"])
def test_a_host_with_an_impossible_name_cannot_be_reached(registered: RemoteHost, name: str):
    registered.host = name

    with pytest.raises(RemoteFailed) as caught:
        probe(registered)
    assert caught.value.code == "remote_unreachable"
    with pytest.raises(ValidationError) as refused:
        registered.full_clean()
    assert "host" in refused.value.message_dict


@pytest.mark.parametrize("port", [0, 70000])
def test_a_host_has_a_port_that_exists(registered: RemoteHost, port: int):
    registered.port = port

    with pytest.raises(ValidationError) as refused:
        registered.full_clean()
    assert "port" in refused.value.message_dict
