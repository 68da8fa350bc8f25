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
