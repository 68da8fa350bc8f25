import pytest

from accounts.models import Supplier
from fulfillments.files.orders_folder import OrdersFolder
from imports import sweeping
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from tests.factories import UploadFactory
from tests.sftp_ingest.conftest import (  # noqa: F401
    _own_folder,
    acme_area,
    acme_login,
    acme_sftp,
    connect,
    login_of,
    made_host_keys,
    serve,
    server,
)
from tests.upload_area import area_of

HEADER = "fulfillment_id,action,tracking_number,carrier,line_id,sku,quantity,reason"


def text_of(supplier: Supplier, name: str) -> str:
    """Return a file of orders/ with its current content."""
    return OrdersFolder().files(supplier.pk)[name]().content.decode("utf-8-sig")


@pytest.fixture
def put(acme, settings):
    """Return a function that uploads a CSV to Acme's tracking/, and imports it as the sweep does."""
    settings.UPLOADS_DIR.mkdir(parents=True, exist_ok=True)

    def go(*rows: str, header: str = HEADER, name: str = "today.csv", content: bytes = b"") -> ImportJob:
        path = f"tracking/{name}"
        content = content or "\n".join((header, *rows, "")).encode()
        (area_of(acme) / path).unlink(missing_ok=True)
        (area_of(acme) / path).write_bytes(content)
        UploadFactory.create(supplier=acme, path=path, size=len(content))
        assert sweeping.take_uploads() == 1
        job = ImportJob.objects.latest("pk")
        run_job(job.pk)
        job.refresh_from_db()
        return job

    return go
