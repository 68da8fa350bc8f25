"""The check of commit subjects that `make lint` runs."""

from __future__ import annotations

import pytest

from tools.commit_subjects import fault_of, subjects


@pytest.mark.parametrize("subject", ["orders: refuse a second cancel", "api, docs: name the field"])
def test_an_area_and_an_imperative_pass(subject):
    assert fault_of(subject) is None


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("Refuse a second cancel", "area"),
        ("orders: refuse a second cancel.", "period"),
        ("orders: " + "x" * 65, "73 characters"),
    ],
)
def test_the_fault_of_a_subject_is_named(subject, fault):
    assert fault in (fault_of(subject) or "")


def test_a_folder_without_git_has_nothing_to_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert subjects() == []
