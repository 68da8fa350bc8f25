"""The browser uploads a large file in chunks. The complete file is imported like other files."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models.functions import Now

from backoffice.groups import OPERATORS
from imports.drafts import chunks
from imports.models import ImportDraft, UploadChunk
from sftp_ingest.area import contents
from sftp_ingest.models import Blob
from tests.backoffice.conftest import operator, support
from tests.factories import StaffFactory

__all__ = ["operator", "support"]

UPLOAD, CHUNK = "/admin/import-file/", "/admin/import-file/chunk/"
FILE = b"sku,title,retail_price\n" + b"".join(b"A-%d,Shirt,19.50\n" % number for number in range(100))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr("imports.drafts.chunks.LARGEST_CHUNK", 1000)


def send(client, upload, position, content):
    body = {"upload": upload, "position": position, "chunk": SimpleUploadedFile("chunk", content)}
    return client.post(CHUNK, body)


def send_all(client, upload):
    for position in range(0, len(FILE), 1000):
        assert send(client, upload, position // 1000, FILE[position : position + 1000]).status_code == 201


def finish(client, acme, upload, count):
    said = {"supplier": acme.pk, "kind": "products", "upload": upload, "chunks": count, "name": "big.csv"}
    return client.post(UPLOAD, said)


def test_chunks_become_the_file_and_are_deleted(operator, acme):
    upload = uuid4()
    send_all(operator, upload)
    send(operator, upload, 1, FILE[1000:2000])  # send this chunk again, as if its answer was lost
    assert finish(operator, acme, upload, 2).status_code == 302

    draft = ImportDraft.objects.get()
    assert (draft.name, draft.blob.size, draft.supplier) == ("big.csv", len(FILE), acme)
    with contents.local_file(draft.blob) as path:
        assert path.read_bytes() == FILE
    assert not UploadChunk.objects.exists()
    assert Blob.objects.unnamed().count() == 3


@pytest.mark.parametrize("count", [1, 3])
def test_an_incomplete_file_is_refused(operator, acme, count):
    upload = uuid4()
    send_all(operator, upload)
    page = finish(operator, acme, upload, count)

    assert page.context["form"].errors["file"] == ["Parts of the file are missing. Send it again."]
    assert not ImportDraft.objects.exists()


def test_a_file_with_a_gap_is_refused(operator, acme):
    upload = uuid4()
    for position in (0, 2):
        assert send(operator, upload, position, b"x").status_code == 201

    assert finish(operator, acme, upload, 2).context["form"].errors["file"]
    assert not ImportDraft.objects.exists()


def test_no_user_adds_to_or_finishes_an_upload_of_another(operator, support, acme):
    upload = uuid4()
    send_all(operator, upload)
    operator.force_login(StaffFactory.create(username="bert", group=OPERATORS))

    assert finish(operator, acme, upload, 2).context["form"].errors
    assert send(support, upload, 0, b"x").status_code == 403


def test_files_and_unfinished_uploads_have_a_size_limit(operator, acme, settings):
    settings.BROWSER_UPLOAD_BYTES = 1500
    upload = uuid4()
    assert "at most 1.5" in operator.get(UPLOAD).text
    send_all(operator, upload)
    assert "larger than 1.5" in finish(operator, acme, upload, 2).context["form"].errors["file"][0]

    beyond = send(operator, upload, 2, b"x")
    assert (beyond.status_code, "larger than 1.5" in beyond.json()["message"]) == (400, True)
    send_all(operator, uuid4())
    assert "are incomplete" in send(operator, uuid4(), 0, b"x").json()["message"]
    # The answer to one chunk was lost. The chunk is sent again, and is not counted twice.
    assert send(operator, upload, 0, FILE[:1000]).status_code == 201


def test_an_invalid_chunk_is_refused_with_the_reason(operator):
    answer = operator.post(CHUNK, {"upload": "x", "position": -1})

    assert (answer.status_code, answer.json()) == (
        400,
        {"message": "The request contains no valid chunk of a file. Upload the file again."},
    )
    assert operator.post(UPLOAD, {"kind": "products"}).context["form"].errors["file"] == ["Choose a file."]


def test_an_unfinished_upload_is_deleted_after_a_day(operator):
    send_all(operator, uuid4())
    assert chunks.forget_old() == 0
    UploadChunk.objects.update(created_at=Now() - timedelta(days=1, seconds=1))

    assert chunks.forget_old() == 2
    assert not UploadChunk.objects.exists()
