"""Tests of `make soak`: the version from which it upgrades, and the HTTP answers that make it fail."""

from __future__ import annotations

import pytest

from tools.bench.soak import previous
from tools.bench.soak.commands import ROOT
from tools.bench.soak.previous import UnusableVersion, unpack
from tools.bench.soak.verdict import unexpected

MIGRATION = "catalog/migrations/9999_later.py"


def test_a_version_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UnusableVersion, match="has no version no-such-version"):
        unpack("no-such-version", tmp_path / "previous")


@pytest.mark.parametrize(("more", "said"), [([], "has all migrations"), ([MIGRATION], MIGRATION)])
def test_a_version_that_is_not_earlier_is_refused(more, said, monkeypatch, tmp_path):
    ours = [str(path.relative_to(ROOT)) for path in ROOT.glob("*/migrations/*.py")]
    monkeypatch.setattr(previous, "git", lambda *_: "\n".join([*ours, *more]))

    with pytest.raises(UnusableVersion, match=said):
        unpack("HEAD", tmp_path / "previous")


def test_a_version_that_migrate_refuses_is_refused(monkeypatch, tmp_path):
    replaced = sorted(previous.replaced_by(ROOT / "accounts/migrations/0001_release_1.py"))
    monkeypatch.setattr(previous, "git", lambda *_: "\n".join(replaced[:-1]))

    with pytest.raises(UnusableVersion, match="only some of the migrations"):
        unpack("HEAD", tmp_path / "previous")


def test_an_answer_of_500_fails_the_soak():
    assert list(unexpected({"200": 9, "503": 2})) == []
    assert list(unexpected({"500": 149})) == ["149 requests were answered with 500"]
