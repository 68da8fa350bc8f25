"""The behavior of every store of blobs, on the local disk and in S3-compatible storage."""

from __future__ import annotations

import random

import pytest

from sftp_ingest.blobs.local import LocalStore
from sftp_ingest.blobs.store import CannotResume, Store, Writer
from tests.sftp_ingest.blobs.conftest import PART

SMALL = b"sku,title\nA-1,Lamp\n"
LARGE = random.Random(1).randbytes(2 * PART + 1000)
ONE = 7


def content(store: Store, number: int = ONE) -> bytes:
    reader = store.reader(number)
    try:
        return reader.read(0, len(LARGE) + 1)
    finally:
        reader.close()


def write(writer: Writer, data: bytes, start: int = 0, step: int = PART // 5) -> None:
    for offset in range(start, len(data), step):
        writer.write(offset, data[offset : offset + step])
        writer.checkpoint(min(len(data), offset + step))


@pytest.mark.parametrize("data", [b"", b"x", SMALL, LARGE[:PART], LARGE], ids=len)
def test_written_bytes_are_read_back(store: Store, data: bytes):
    writer = store.create(ONE)
    write(writer, data)
    writer.complete(len(data))

    assert content(store) == data
    assert store.size(ONE) == len(data)
    with store.local_file(ONE) as path:
        assert path.read_bytes() == data


def test_an_incomplete_blob_in_s3_cannot_be_read(store: Store):
    writer = store.create(ONE)
    write(writer, LARGE)

    assert (
        store.name == "local" or store.size(ONE) is None
    )  # on the disk, only the row knows that a blob is complete
    writer.complete(len(LARGE))
    assert store.size(ONE) == len(LARGE)


def test_ranges_are_read_in_any_order(store: Store):
    writer = store.create(ONE)
    write(writer, LARGE)
    writer.complete(len(LARGE))
    reader = store.reader(ONE)

    for start, length in [(0, 10), (PART - 5, 10), (3, 4), (len(LARGE) - 3, 100), (len(LARGE), 5)]:
        assert reader.read(start, length) == LARGE[start : start + length]
    reader.close()
    reader.close()


def test_chunks_may_arrive_in_any_order_and_overlap(store: Store):
    writer = store.create(ONE)
    size = PART // 17
    offsets = list(range(0, len(LARGE), size))
    random.Random(2).shuffle(offsets)
    for offset in offsets:
        writer.write(offset, LARGE[offset : offset + size])
    writer.checkpoint(len(LARGE))
    writer.write(0, b"sku")  # the part with these bytes may have been sent already
    writer.complete(len(LARGE))

    assert content(store) == b"sku" + LARGE[3:]


def test_bytes_beyond_the_end_are_dropped(store: Store):
    writer = store.create(ONE)
    write(writer, LARGE)
    writer.cut_to(PART + 5)
    writer.write(PART + 5, b"end")
    writer.complete(PART + 8)

    assert content(store) == LARGE[: PART + 5] + b"end"


def test_a_writer_reads_its_own_bytes(store: Store):
    writer = store.create(ONE)
    write(writer, LARGE)
    reader = writer.reader()
    assert reader.read(5, 10) == LARGE[5:15]
    writer.complete(len(LARGE))

    assert reader.read(PART, 10) == LARGE[PART : PART + 10]
    reader.close()


@pytest.mark.parametrize("came", [1, 10, PART - 1, PART, PART + 1, 2 * PART, len(LARGE)])
@pytest.mark.parametrize("lapsed", [False, True])
def test_another_process_resumes_a_kept_blob(store: Store, came: int, lapsed: bool):
    first = store.create(ONE)
    write(first, LARGE[:came])
    kept = first.keep(came)
    second = store.resume(ONE, kept, lapsed=lapsed)
    write(second, LARGE, came)
    second.complete(len(LARGE))

    assert kept.size == came
    assert content(store) == LARGE


def test_after_a_crash_the_checkpoint_survives(store: Store):
    died = store.create(ONE)
    write(died, LARGE)
    while not (kept := died.checkpoint(len(LARGE))).size:
        pass
    second = store.resume(ONE, kept, lapsed=True)
    write(second, LARGE, kept.size)
    died.write(0, b"late")  # the first writer was only frozen, and its client sends more
    second.complete(len(LARGE))
    died.leave()

    assert content(store) == LARGE


def test_a_repeatedly_cut_blob_continues(store: Store):
    writer, came = store.create(ONE), 0
    for at in (3, PART + 3, PART + 5, 2 * PART + 1):
        write(writer, LARGE[:at], came)
        writer, came = store.resume(ONE, writer.keep(at), lapsed=False), at
    write(writer, LARGE, came)
    writer.complete(len(LARGE))

    assert content(store) == LARGE


def test_resuming_before_the_local_bytes_works_or_is_refused(store: Store):
    first = store.create(ONE)
    write(first, LARGE)
    kept = first.keep(len(LARGE))
    second = store.resume(ONE, kept, lapsed=False)
    second.cut_to(2 * PART + 1)
    try:
        second.cut_to(10)
    except CannotResume:
        assert store.name == "s3"
        second.cut_to(0)
        write(second, SMALL)
        second.complete(len(SMALL))
        assert content(store) == SMALL
    else:
        second.complete(10)
        assert content(store) == LARGE[:10]


def test_a_number_that_a_restored_database_gives_out_again_has_the_new_content(store: Store):
    for data in (LARGE, SMALL):
        writer = store.create(ONE)
        write(writer, data)
        writer.complete(len(data))

    assert content(store) == SMALL


def test_a_deleted_blob_cannot_be_resumed(store: Store):
    first = store.create(ONE)
    write(first, SMALL)
    kept = first.keep(len(SMALL))
    store.delete(ONE)

    with pytest.raises((CannotResume, OSError)):
        store.resume(ONE, kept, lapsed=False)


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=len)
def test_a_discarded_or_deleted_blob_is_gone(store: Store, data: bytes):
    discarded = store.create(ONE)
    write(discarded, data)
    discarded.discard()
    discarded.discard()
    deleted = store.create(ONE + 1)
    write(deleted, data)
    deleted.complete(len(data))
    for _ in range(2):
        store.delete(ONE + 1)

    for number in (ONE, ONE + 1):
        assert store.size(number) is None
        with pytest.raises(OSError, match=r"."):
            store.reader(number)


def test_a_writer_that_was_left_does_not_touch_the_resumed_blob(store: Store):
    frozen = store.create(ONE)
    write(frozen, LARGE[: PART + 5])
    kept = frozen.keep(PART + 5)
    second = store.resume(ONE, kept, lapsed=True)
    frozen.leave()
    frozen.discard()
    write(second, LARGE, PART + 5)
    second.complete(len(LARGE))

    assert content(store) == LARGE


def test_other_users_cannot_read_the_folder_of_a_new_or_old_store(tmp_path):
    folder = tmp_path / "uploads" / "blobs"
    store = LocalStore(folder)
    store.create(ONE).discard()
    assert [each.stat().st_mode & 0o777 for each in (folder, store.path(ONE).parent)] == [0o750, 0o750]

    folder.chmod(0o755)
    store.create(ONE + 1).discard()
    assert folder.stat().st_mode & 0o777 == 0o750
