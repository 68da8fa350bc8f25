"""The source of the file in an import's `file_url` or `url` (contract 6). Nothing is fetched here."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.conf import settings

from accounts.models import Supplier
from api.errors import ApiError, Invalid
from sftp_ingest.area.files import file_in_area
from sftp_ingest.area.paths import join_path, parse_path
from sftp_ingest.errors import Refused
from sftp_ingest.models import RemoteHost, SftpLogin

DEFAULT_PORT = 22
MAX_URL_LENGTH = 1000


@dataclass(frozen=True)
class Local:
    """A file in the supplier's own area."""

    path: str


@dataclass(frozen=True)
class Remote:
    """A file on a registered host of the supplier."""

    host: RemoteHost
    path: str


def classify(supplier: Supplier, value: str, field: str = "file_url") -> Local | Remote:
    """Return the source for a path or a URL. Raises Invalid if the file is missing or may not be read.

    A path is used unchanged. In a URL, escapes such as `%20` (a blank) are decoded.
    """
    try:
        source = _source(supplier, value.strip())
        if isinstance(source, Local):
            file_in_area(supplier, source.path)
    except Refused as error:
        raise _invalid(field, str(error)) from error
    return source


def _invalid(field: str, message: str) -> ApiError:
    return Invalid.at(field, message)


def _source(supplier: Supplier, value: str) -> Local | Remote:
    if not value or len(value) > MAX_URL_LENGTH:
        raise Refused(
            f"Must be a path in the upload area or an sftp:// URL, with at most {MAX_URL_LENGTH} characters."
        )
    if "://" not in value:
        return Local(join_path(parse_path(value)))
    return _of_url(supplier, value)


def _of_url(supplier: Supplier, value: str) -> Local | Remote:
    try:
        url = urlsplit(value)
        host, port = (url.hostname or "").lower(), url.port
    except ValueError as error:
        raise Refused("Is not a valid URL.") from error
    if url.scheme != "sftp":
        raise Refused(f"Only sftp:// URLs and paths in the upload area are read, not {url.scheme}://.")
    if url.password is not None:
        raise Refused("Must not contain a password. An operator registers the password with the host.")
    if url.query or url.fragment:
        raise Refused("Write ? and # in a file's name as %3F and %23.")
    try:
        path = unquote(url.path, errors="strict")
    except UnicodeDecodeError as error:
        raise Refused("The %-escapes in the path are not UTF-8.") from error
    if _is_ours(host, port):
        _refuse_foreign_login(supplier, url.username)
        return Local(join_path(parse_path(path)))
    return _remote(supplier, host, port or DEFAULT_PORT, url.username, path)


def _is_ours(host: str, port: int | None) -> bool:
    """Tell whether a URL leads to this service: to one of its names, with its SFTP port or without a port."""
    names = {settings.SFTP_HOST, urlsplit(settings.BASE_URL).hostname, "127.0.0.1", "localhost", "::1"}
    names |= {name.strip("[]") for name in settings.ALLOWED_HOSTS}
    return host in names and port in (None, settings.SFTP_PORT)


def _refuse_foreign_login(supplier: Supplier, username: str | None) -> None:
    if username and not SftpLogin.objects.filter(supplier=supplier, username=unquote(username)).exists():
        raise Refused("Names a login of another supplier. Leave the login out.")


def _remote(supplier: Supplier, host: str, port: int, username: str | None, path: str) -> Remote:
    registered = RemoteHost.objects.filter(supplier=supplier, host=host, port=port).first()
    if registered is None:
        raise Refused(
            f"The host {host}:{port} is not registered for this supplier. Upload the file by SFTP, "
            "or ask the operators to register the host with its key."
        )
    if username and unquote(username) != registered.username:
        raise Refused(f"Names a user that is not registered for {host}. Leave the user out.")
    if not join_path(parse_path(path)):
        raise Refused("Names no file. Add the path of a file.")
    return Remote(registered, path)
