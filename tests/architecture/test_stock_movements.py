"""All SQL that appends stock movements comes from `inventory.movements`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from inventory.models import MovementKind
from inventory.movements import COLUMNS, TYPES, MovementRow, insert_movements

ROOT = Path(__file__).parents[2]
SPELLED = re.compile(r"INSERT INTO inventory_stockmovement\b")


def test_no_other_module_spells_the_insert_of_a_movement():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [path for path in listed.stdout.split() if "/migrations/" not in path]
    spelling = [path for path in paths if SPELLED.search((ROOT / path).read_text())]
    assert set(spelling) <= {"tests/architecture/test_stock_movements.py"}


def test_the_row_of_a_movement_has_columns_of_the_ledger():
    assert set(MovementRow._fields) <= set(COLUMNS)
    assert set(TYPES) == set(MovementRow._fields)


def test_an_unknown_column_is_refused():
    with pytest.raises(ValueError, match="no column pieces"):
        insert_movements(MovementKind.COUNT, "counted", pieces="1")
