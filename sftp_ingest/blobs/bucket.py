"""A folder of a bucket in S3-compatible storage, through boto3, which is an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from sftp_ingest.errors import StorageAway

TIMEOUT, ATTEMPTS = 20, 4
CHUNK_SIZE = 1024**2


class WrongUploadsUrl(ValueError):
    """The error for an invalid setting UPLOADS_URL. Its message shows the right form."""


class Bucket:
    """The objects below a prefix of a bucket. Every method raises StorageAway if the storage fails."""

    def __init__(self, url: str) -> None:
        """Parse `s3://[key:secret@]bucket[/prefix][?endpoint=…&region=…]`.

        boto3 reads missing parts from its environment variables and configuration files.
        """
        parsed = urlsplit(url)
        if parsed.scheme != "s3" or not parsed.hostname:
            raise WrongUploadsUrl("Write UPLOADS_URL as s3://bucket/prefix, if needed with ?endpoint=…")
        self._name = parsed.hostname
        self._prefix = f"{parsed.path.strip('/')}/".lstrip("/")
        self._client, self._errors = _client(parsed)

    @contextmanager
    def _request(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise StorageAway from error

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self._name, "Key": f"{self._prefix}{key}"}

    def require(self) -> None:
        """Check that the bucket exists and the credentials give access to it. Raises OSError."""
        with self._request():
            self._client.head_bucket(Bucket=self._name)

    def put(self, key: str, data: bytes) -> None:
        with self._request():
            self._client.put_object(**self._at(key), Body=data)

    def get(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to but not including `end`, which must be greater than 0."""
        with self._request():
            answer = self._client.get_object(**self._at(key), Range=f"bytes={start}-{end - 1}")
            data: bytes = answer["Body"].read()
        return data

    def keys(self, after: str) -> tuple[dict[str, float], bool]:
        """List one page of the keys that sort after `after`.

        Return each key with the time of its object, and whether another page follows.
        """
        with self._request():
            page = self._client.list_objects_v2(
                Bucket=self._name, Prefix=self._prefix, StartAfter=f"{self._prefix}{after}"
            )
        objects = page.get("Contents", [])
        times = {item["Key"][len(self._prefix) :]: item["LastModified"].timestamp() for item in objects}
        return times, bool(page.get("IsTruncated"))

    def fetch(self, key: str, file: IO[bytes]) -> None:
        with self._request():
            for chunk in self._client.get_object(**self._at(key))["Body"].iter_chunks(CHUNK_SIZE):
                file.write(chunk)

    def size(self, key: str) -> int | None:
        try:
            with self._request():
                return int(self._client.head_object(**self._at(key))["ContentLength"])
        except OSError as error:
            response = getattr(error.__cause__, "response", None) or {}
            if response.get("ResponseMetadata", {}).get("HTTPStatusCode") == 404:
                return None
            raise

    def delete(self, key: str) -> None:
        with self._request():
            self._client.delete_object(**self._at(key))

    # --- Multipart uploads ------------------------------------------------------------------------

    def begin(self, key: str) -> str:
        """Begin a multipart upload and return its id."""
        with self._request():
            return str(self._client.create_multipart_upload(**self._at(key))["UploadId"])

    def send_part(self, key: str, upload: str, number: int, data: bytes) -> str:
        """Send a part and return its tag. Parts are numbered from 1."""
        with self._request():
            sent = self._client.upload_part(**self._at(key), UploadId=upload, PartNumber=number, Body=data)
            return str(sent["ETag"])

    def complete(self, key: str, upload: str, tags: list[str]) -> None:
        """Join the parts into one object. The storage refuses this if the tag of a part has changed."""
        parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
        with self._request():
            self._client.complete_multipart_upload(
                **self._at(key), UploadId=upload, MultipartUpload={"Parts": parts}
            )

    def abort(self, key: str, upload: str) -> None:
        with self._request():
            self._client.abort_multipart_upload(**self._at(key), UploadId=upload)

    def abort_all(self, key: str) -> None:
        """Abort all multipart uploads of a key, from any process."""
        at = self._at(key)
        with self._request():
            listed = self._client.list_multipart_uploads(Bucket=at["Bucket"], Prefix=at["Key"])
            for upload in listed.get("Uploads", []):
                if upload["Key"] == at["Key"]:
                    self._client.abort_multipart_upload(**at, UploadId=upload["UploadId"])


def _client(url: SplitResult) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return boto3's client, which threads may share, and the exceptions that it raises."""
    try:
        # boto3 is an optional dependency, and its import takes a third of a second.
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise WrongUploadsUrl("UPLOADS_URL needs boto3: install -r requirements/s3.txt.") from error
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    try:
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
                # Storages of other vendors may not support the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )
    except (ValueError, BotoCoreError) as error:  # for example an endpoint without `https://`
        raise WrongUploadsUrl(str(error)) from error
    return client, (BotoCoreError, ClientError, Boto3Error)
