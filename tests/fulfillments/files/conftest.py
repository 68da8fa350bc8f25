from accounts.models import Supplier
from fulfillments.files.orders_folder import OrdersFolder
from tests.sftp_ingest.conftest import (  # noqa: F401
    _own_folder,
    acme_area,
    acme_login,
    acme_sftp,
    connect,
    login_of,
    serve,
    server,
)


def text_of(supplier: Supplier, name: str) -> str:
    """A file of orders/, as it is now."""
    return OrdersFolder().files(supplier.pk)[name]().content.decode()
