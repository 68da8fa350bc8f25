"""Any bytes below a header: each record lands or is rejected, and nothing else happens."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from imports.models import ImportJob, Status
from imports.pipeline.clean_blocks import is_clean, well_formed
from imports.pipeline.csv_reader import Sheet
from imports.pipeline.encodings import Encoding
from imports.pipeline.header import ExpectedHeader
from imports.pipeline.tolerant_reader import TolerantReader

pytestmark = pytest.mark.fuzz

HEADER = b"sku,title,retail_price\n"
PARTS = [
    b'"',
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b"\\.",
    b"A-1",
    b"x",
    b"1.5",
    b"\0",
    b"\xff",
    "é".encode(),
    b" ",
    b"'",
    b";",
    b"\t",
]
noise = st.lists(st.sampled_from(PARTS), max_size=60).map(b"".join) | st.binary(max_size=120)
quick = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.django_db
@quick
@given(body=noise)
@example(body=b'A-1,5" pipe,1\nA-2,6" pipe,2\n')
@example(body=b'A-1,x",y\nq,"z,1\n')
@example(body=b"A-1,x,1\n\\.\nA-2,x,1\n")
@example(body=b'"A-1","a\n\\.\nb",1\n')
@example(body=b'A-1,x,"1')
def test_every_record_lands_or_is_rejected(acme, upload, ran, body):
    job = ran(acme, file_url=upload(acme, HEADER + body))

    assert job["status"] in (Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS), job
    done = [job[name] for name in ("created", "updated", "unchanged", "rejected", "duplicates")]
    assert sum(done) == job["rows_total"] == job["rows_done"]
    assert ImportJob.objects.get(pk=job["id"]).rejects.count() == job["rejected"]


@quick
@given(body=noise)
def test_copy_and_the_tolerant_reader_read_the_same(body):
    """Both readers find the same records and lines in a clean block."""
    if not is_clean(body, well_formed(",")) or b"\r" in body.replace(b"\r\n", b"\n"):
        return
    rows = [row for row in csv.reader(io.StringIO(body.decode(), newline="")) if "".join(row).strip(" \t")]
    reader = TolerantReader(body, 1, ",", final=True)
    found = [record for record in reader if "".join(record.cells).strip(" \t")]

    assert [record.code for record in found] == [""] * len(found)
    assert [[c.replace("\r\n", "\n") for c in record.cells] for record in found] == [
        [c.replace("\r\n", "\n") for c in row] for row in rows
    ]


@quick
@given(body=noise, block=st.integers(1, 40))
def test_blocks_of_any_size_give_the_same_records(monkeypatch, body, block):
    whole = [(r.line, r.cells, r.code) for r in TolerantReader(body, 2, ",", final=True)]
    with monkeypatch.context() as small:
        small.setattr("imports.pipeline.csv_reader.BLOCK", block)
        for module in ("csv_reader", "tolerant_reader"):
            small.setattr(f"imports.pipeline.{module}.LONGEST_RECORD", 10_000)
        sheet = Sheet(io.BytesIO(HEADER + body), Encoding("utf-8"), ExpectedHeader(["sku", "title"]))
        found = []
        for each in sheet.blocks():
            reader = TolerantReader(each.data, each.line, ",", final=each.final)
            found += [(r.line, r.cells, r.code) for r in reader]
            sheet.give_back(each.data[reader.consumed :])

    assert found == whole
