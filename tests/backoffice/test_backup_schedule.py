"""Backups on a schedule: the time of the next backup, the backups that are kept, and the metric."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from subprocess import CalledProcessError

import pytest
import time_machine

from backoffice import backup_schedule, backups
from backoffice.backup_schedule import BackupSchedule

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
DAY, NOW = timedelta(days=1), timedelta(0)


@pytest.fixture
def schedule(tmp_path, monkeypatch):
    """Return a daily schedule that keeps two backups. The backups have no content."""

    def make(folder, *, with_files):
        folder.with_name(f"{folder.name}.half").mkdir(parents=True)
        (folder.with_name(f"{folder.name}.half") / backups.ABOUT).touch()
        folder.with_name(f"{folder.name}.half").rename(folder)

    monkeypatch.setattr(backups, "make", make)
    monkeypatch.setattr("backoffice.backup_schedule.connection.close", lambda: None)
    return BackupSchedule(tmp_path / "backups", DAY, kept=2)


def test_a_backup_is_due_at_once_and_then_every_day(schedule):
    with time_machine.travel(NOON, tick=False) as clock:
        assert (schedule.due_in(), schedule.age() > 1000 * DAY) == (NOW, True)
        assert schedule.make()
        assert (schedule.due_in(), schedule.age()) == (DAY, NOW)
        clock.shift(DAY)
        assert (schedule.due_in(), schedule.age()) == (NOW, DAY)


def test_a_new_process_knows_the_backups_of_the_previous_process(schedule):
    with time_machine.travel(NOON, tick=False) as clock:
        schedule.make()
        clock.shift(DAY / 2)
        assert BackupSchedule(schedule.folder, DAY, kept=2).due_in() == DAY / 2


def test_the_newest_backups_are_kept_and_other_folders_are_not_touched(schedule):
    (schedule.folder / "before the move").mkdir(parents=True)
    (schedule.folder / "before the move" / backups.ABOUT).touch()
    (schedule.folder / "mine.half").mkdir()
    (schedule.folder / "2026-11-22T120000Z.half").mkdir()
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(4):
            assert schedule.make()
            clock.shift(DAY)
    assert sorted(path.name for path in schedule.folder.iterdir() if path.is_dir()) == [
        "2026-11-25T120000Z",
        "2026-11-26T120000Z",
        "before the move",
        "mine.half",
    ]


def test_a_process_leaves_the_unfinished_backup_of_another_host_alone(schedule, monkeypatch):
    other = BackupSchedule(schedule.folder, DAY, kept=2)
    make = backups.make

    def make_slowly(folder, *, with_files):
        monkeypatch.setattr(backups, "make", make)
        half = schedule.folder / "2026-11-23T115500Z.half"
        half.mkdir(parents=True)
        assert not other.make()
        half.rmdir()
        make(folder, with_files=with_files)

    with time_machine.travel(NOON, tick=False) as clock:
        monkeypatch.setattr(backups, "make", make_slowly)
        assert schedule.make()
        assert len(schedule.complete()) == 1
        clock.shift(DAY)
        assert other.make()


def test_an_old_backup_that_cannot_be_deleted_does_not_make_the_new_one_a_failure(
    schedule, monkeypatch, caplog
):
    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(2):
            schedule.make()
            clock.shift(DAY)
        monkeypatch.setattr("backoffice.backup_schedule.shutil.rmtree", refuse)
        assert schedule.make()

    assert "2026-11-23T120000Z could not be deleted: [Errno 13] Permission denied" in caplog.text
    assert "The backup failed" not in caplog.text
    assert len(schedule.complete()) == 3


@pytest.mark.parametrize("failure", [CalledProcessError(1, "pg_dump"), OSError(28, "Full"), SystemExit()])
def test_a_backup_that_fails_or_is_stopped_leaves_no_files(tmp_path, monkeypatch, failure):
    def fail(*command):
        (tmp_path / "mine.half" / backups.DUMP).touch()
        raise failure

    monkeypatch.setattr(backups, "run", fail)
    with pytest.raises(type(failure)):
        backups.make(tmp_path / "mine", with_files=True)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_is_logged_and_tried_again_minutes_later(schedule, monkeypatch, caplog):
    def fail(folder, *, with_files):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "make", fail)
    with time_machine.travel(NOON, tick=False) as clock:
        assert not schedule.make()
        assert "No space left on device" in caplog.text
        assert schedule.due_in() == backup_schedule.RETRY
        clock.shift(backup_schedule.RETRY)
        assert schedule.due_in() == NOW


def test_a_backup_of_a_clock_that_was_ahead_stops_no_later_backup_and_is_deleted_in_its_turn(schedule):
    with time_machine.travel(NOON, tick=False) as clock:
        schedule.make()
        clock.shift(365 * DAY)
        schedule.make()
        clock.move_to(NOON + DAY)
        assert (schedule.due_in(), schedule.age()) == (backup_schedule.RETRY, DAY)
        for _ in range(2):
            assert schedule.make()
            clock.shift(DAY)

        names = [path.name for path in schedule.complete()]
        assert names == ["2026-11-24T120000Z", "2026-11-25T120000Z"]


def test_a_failure_of_a_clock_that_was_ahead_delays_the_next_try_by_minutes(schedule, monkeypatch):
    def fail(folder, *, with_files):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "make", fail)
    with time_machine.travel(NOON, tick=False) as clock:
        schedule.make()
        clock.shift(-DAY)
        assert schedule.due_in() == backup_schedule.RETRY
