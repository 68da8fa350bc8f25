"""Upload areas that were folders on the disk become rows and blobs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import Supplier
from sftp_ingest.area import quota
from sftp_ingest.models import Blob
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def former(acme: Supplier, settings) -> Path:
    """Create Acme's area as a folder on the disk, as an earlier version stored it."""
    root: Path = settings.UPLOADS_DIR / str(acme.pk)
    for name, text in (
        ("products/spring/ä b.csv", "sku\n"),
        ("inventory/stock.csv", "sku,quantity\n"),
        ("top.csv", ""),
        ("templates/products.csv", "made as it is read"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    os.utime(root / "inventory/stock.csv", (5, 1_600_000_000))
    (root / "inventory/link.csv").symlink_to("/etc/passwd")
    (root / "inventory/bad\n.csv").write_text("no name that an area has")
    return root


def test_each_file_is_there_with_its_content_and_time(former: Path, acme: Supplier, rival: Supplier, capsys):
    call_command("adopt_upload_areas")

    area = area_of(acme)
    assert [str(path.entry) for path in area.files()] == [
        "inventory/stock.csv",
        "products/spring/ä b.csv",
        "top.csv",
    ]
    assert (area / "products/spring/ä b.csv").read_text() == "sku\n"
    assert (area / "inventory/stock.csv").stat().st_mtime == 1_600_000_000
    assert quota.used(acme.pk) == len("sku\nsku,quantity\n")
    assert capsys.readouterr().out == "3 files were migrated.\n"
    assert sorted(path.name for path in former.rglob("*") if not path.is_dir()) == [
        "bad\n.csv",
        "link.csv",
        "products.csv",
    ]


def test_a_second_run_changes_nothing_and_newer_files_stay(
    former: Path, acme: Supplier, capsys: pytest.CaptureFixture[str]
):
    (area_of(acme) / "top.csv").write_text("newer")
    for _ in range(2):
        call_command("adopt_upload_areas")

    assert (area_of(acme) / "top.csv").read_text() == "newer"
    assert Blob.objects.count() == 3
    assert capsys.readouterr().out.splitlines()[-1] == "0 files were migrated."


def test_an_interrupted_adoption_continues(former: Path, acme: Supplier, monkeypatch: pytest.MonkeyPatch):
    unlink: Callable[..., None] = Path.unlink

    def once(path: Path, **options: bool) -> None:
        if path.is_relative_to(former):
            monkeypatch.setattr(Path, "unlink", unlink)
            raise KeyboardInterrupt
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", once)
    with pytest.raises(KeyboardInterrupt):
        call_command("adopt_upload_areas")
    call_command("adopt_upload_areas")

    assert len(area_of(acme).files()) == 3
    assert quota.used(acme.pk) == len("sku\nsku,quantity\n")
