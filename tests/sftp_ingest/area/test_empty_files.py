"""Empty files that a client creates first and fills later."""

from __future__ import annotations

import pytest

from sftp_ingest.models import Upload

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"sku,title\nA-1,Lamp\n"


def test_an_empty_file_that_is_opened_again_is_not_for_import(acme_sftp):
    """Some clients create an empty file, and open it again to write its content.

    Only the file with content is imported.
    """
    acme_sftp.open("products/spring.csv", "w").close()
    assert Upload.objects.get().swept_at is None
    file = acme_sftp.open("products/spring.csv", "w")
    file.stat()
    assert Upload.objects.get().swept_at is not None
    file.write(CSV)
    file.close()

    assert list(Upload.objects.filter(swept_at=None).values_list("size", flat=True)) == [len(CSV)]
