"""A sheet with exactly the maximum number of rows is complete, so it has no note about more rows."""

import io
from zipfile import ZipFile

import pytest

from api.exporting import workbook as workbooks


@pytest.mark.parametrize(("rows", "has_note"), [(2, False), (3, False), (4, True)])
def test_only_a_sheet_with_too_many_rows_has_a_note(monkeypatch, rows, has_note):
    monkeypatch.setattr(workbooks, "MOST_ROWS", 3)
    file = ZipFile(io.BytesIO(b"".join(workbooks.workbook([["x"]] * rows))))
    sheet = file.read(workbooks.SHEET).decode()
    assert sheet.count("<row>") == min(rows, 3)
    assert ("There are more rows" in sheet) is has_note
