"""A folder of a bucket in S3-compatible storage, by boto3, which is installed where it is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from sftp_ingest.errors import StorageAway

TIMEOUT, ATTEMPTS = 20, 4
CHUNK_SIZE = 1024**2


class WrongUrl(ValueError):
    """UPLOADS_URL cannot be understood; the message says what it should be."""


class Bucket:
    """Its keys are those below the prefix. Every method raises StorageAway when that does not work."""

    def __init__(self, url: str) -> None:
        """`s3://[key:secret@]bucket[/prefix][?endpoint=http://…&region=…]`; else as boto3 finds them."""
        parsed = urlsplit(url)
        if parsed.scheme != "s3" or not parsed.hostname:
            raise WrongUrl("UPLOADS_URL must be s3://bucket/prefix, with ?endpoint=https://… if need be.")
        self._name = parsed.hostname
        self._prefix = f"{parsed.path.strip('/')}/".lstrip("/")
        self._client, self._errors = _client(parsed)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise StorageAway from error

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self._name, "Key": f"{self._prefix}{key}"}

    def require(self) -> None:
        """Raises OSError when there is no such bucket, or these credentials do not open it."""
        with self._asking():
            self._client.head_bucket(Bucket=self._name)

    def put(self, key: str, data: bytes) -> None:
        with self._asking():
            self._client.put_object(**self._at(key), Body=data)

    def get(self, key: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`, which is not 0."""
        with self._asking():
            answer = self._client.get_object(**self._at(key), Range=f"bytes={start}-{end - 1}")
            data: bytes = answer["Body"].read()
        return data

    def keys(self, after: str) -> tuple[dict[str, float], bool]:
        """Some keys after that one with the times of their objects, and whether there are more."""
        with self._asking():
            page = self._client.list_objects_v2(
                Bucket=self._name, Prefix=self._prefix, StartAfter=f"{self._prefix}{after}"
            )
        found = page.get("Contents", [])
        times = {each["Key"][len(self._prefix) :]: each["LastModified"].timestamp() for each in found}
        return times, bool(page.get("IsTruncated"))

    def fetch(self, key: str, file: IO[bytes]) -> None:
        with self._asking():
            for chunk in self._client.get_object(**self._at(key))["Body"].iter_chunks(CHUNK_SIZE):
                file.write(chunk)

    def size(self, key: str) -> int | None:
        try:
            with self._asking():
                return int(self._client.head_object(**self._at(key))["ContentLength"])
        except OSError as error:
            response = getattr(error.__cause__, "response", None) or {}
            if response.get("ResponseMetadata", {}).get("HTTPStatusCode") == 404:
                return None
            raise

    def delete(self, key: str) -> None:
        with self._asking():
            self._client.delete_object(**self._at(key))

    # An object in parts.

    def begin(self, key: str) -> str:
        """The id of an upload in parts."""
        with self._asking():
            return str(self._client.create_multipart_upload(**self._at(key))["UploadId"])

    def send_part(self, key: str, upload: str, number: int, data: bytes) -> str:
        """Send a part, numbered from 1; its tag."""
        with self._asking():
            sent = self._client.upload_part(**self._at(key), UploadId=upload, PartNumber=number, Body=data)
            return str(sent["ETag"])

    def complete(self, key: str, upload: str, tags: list[str]) -> None:
        """Make one object of the parts; the storage refuses it when one of them has another tag by now."""
        parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
        with self._asking():
            self._client.complete_multipart_upload(
                **self._at(key), UploadId=upload, MultipartUpload={"Parts": parts}
            )

    def abort(self, key: str, upload: str) -> None:
        with self._asking():
            self._client.abort_multipart_upload(**self._at(key), UploadId=upload)

    def abort_all(self, key: str) -> None:
        """Abort what was begun under that key, by whomever."""
        at = self._at(key)
        with self._asking():
            found = self._client.list_multipart_uploads(Bucket=at["Bucket"], Prefix=at["Key"])
            for each in found.get("Uploads", []):
                if each["Key"] == at["Key"]:
                    self._client.abort_multipart_upload(**at, UploadId=each["UploadId"])


def _client(url: SplitResult) -> tuple[Any, tuple[type[Exception], ...]]:
    """boto3's client, which threads may share, and what it raises."""
    try:
        # An optional dependency, which takes a third of a second to import.
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise WrongUrl("UPLOADS_URL needs boto3: install -r requirements/s3.txt.") from error
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=query.get("endpoint"),
        region_name=query.get("region"),
        aws_access_key_id=unquote(url.username) if url.username else None,
        aws_secret_access_key=unquote(url.password) if url.password else None,
        config=Config(
            connect_timeout=TIMEOUT,
            read_timeout=TIMEOUT,
            retries={"max_attempts": ATTEMPTS, "mode": "standard"},
            max_pool_connections=32,
            # Storage that is only compatible may not know the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
    return client, (BotoCoreError, ClientError, Boto3Error)
