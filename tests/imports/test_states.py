"""Each status of an import with each move: every cell of the table of moves."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.actors import Actor, ActorKind
from api.errors import InvalidTransition
from events.models import Event
from fastdb.leased import LeaseLost
from imports.models import ImportJob, Status
from imports.states import (
    APPROVE,
    CANCEL,
    MOVES,
    REFUSE,
    REQUEST_CANCEL,
    RETRY,
    START,
    UNFINISHED,
    JobMove,
    moves_from,
)
from sftp_ingest.area import contents
from tests.factories import ImportJobFactory

EVENTS = {
    "import.approved",
    "import.awaiting_approval",
    "import.cancel_requested",
    "import.canceled",
    "import.failed",
    "import.retried",
    "import.started",
    "import.succeeded",
}
# The actions that the API offers.
CALLS: dict[str, tuple[JobMove, ...]] = {
    "approve": (APPROVE,),
    "cancel": (CANCEL, REQUEST_CANCEL),
    "retry": (RETRY,),
}
ME = "worker-1"


@pytest.fixture
def a_job(acme):
    """Return a function that creates a job of Acme in a status, always with a worker as its owner."""

    def make(status: Status, **fields: Any) -> ImportJob:
        blob = contents.write([b"sku,title,retail_price\nA-1,Shirt,1\n"])
        job: ImportJob = ImportJobFactory.create(supplier=acme, status=status, owner=ME, blob=blob, **fields)
        return job

    return make


def stored(job: ImportJob) -> list[object]:
    return list(ImportJob.objects.filter(pk=job.pk).values())


def test_each_move_has_its_row_and_each_status_a_way_into_it():
    assert len({move.name for move in MOVES}) == len(MOVES)
    assert {move.event for move in MOVES if move.event} == EVENTS
    reached = {target for move in MOVES for target in move.targets}
    assert reached == set(Status)
    for move in MOVES:
        assert move.sources
        assert ActorKind.RETAILER not in move.by


@pytest.mark.parametrize("kind", ActorKind)
@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_a_move_is_allowed_only_from_its_sources_and_by_its_actors(a_job, move, status, kind):
    job, actor = a_job(status), Actor(kind, f"{kind}:somebody")
    before = stored(job)

    if status == move.repeated_in:
        with job._move(move, by=actor) as moving:
            assert moving.repeated
        assert stored(job) == before
        assert not Event.objects.exists()
    elif status in move.sources and kind in move.by:
        with job._move(move, by=actor):
            pass
        assert job.status == ImportJob.objects.get(pk=job.pk).status == move.target
        assert [event.type for event in Event.objects.all()] == ([move.event] if move.event else [])
        assert bool(job.owner) == (job.status in UNFINISHED)
    else:
        with pytest.raises(InvalidTransition) as refused, job._move(move, by=actor):
            raise AssertionError("the body of a forbidden move is never entered")
        assert refused.value.status == 409
        assert f"This import is {status} and cannot be {move.done}" in refused.value.message
        for allowed in moves_from(status, kind):
            assert allowed.done in refused.value.message
        assert stored(job) == before
        assert not Event.objects.exists()


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("call", CALLS)
def test_the_api_answers_409_with_the_allowed_actions(acme, client_for, a_job, call, status):
    job, client = a_job(status), client_for(acme)

    answer = client.post(f"imports/{job.pk}/{call}")

    possible = any(status in move.sources or status == move.repeated_in for move in CALLS[call])
    assert answer.status_code == (200 if possible else 409)
    if not possible:
        body = answer.json()
        assert body["code"] == "invalid_transition"
        ways = {move.done for move in moves_from(status, ActorKind.SUPPLIER)}
        assert all(way in body["message"] for way in ways or {"no further action is possible"})
        assert not Event.objects.exists()


@pytest.mark.parametrize("owner", ["worker-2", ""])
@pytest.mark.parametrize("move", [move for move in MOVES if move.fenced], ids=lambda move: move.name)
def test_a_worker_that_lost_its_lease_moves_nothing(a_job, move, owner):
    job = a_job(Status.RUNNING)
    before = stored(job)
    job.owner = owner

    with pytest.raises(LeaseLost), job._move(move, by=Actor.system("imports")):
        raise AssertionError("the body of a fenced move is never entered")

    assert stored(job) == before
    assert not Event.objects.exists()


def test_a_job_without_a_worker_has_no_owner(a_job):
    job = a_job(Status.RUNNING)
    ImportJob.objects.update(owner="")
    job.owner = ""

    with pytest.raises(LeaseLost):
        job.fail("internal_error", "An error.")

    assert ImportJob.objects.get().status == Status.RUNNING


def test_a_move_reads_its_job_again(a_job):
    job = a_job(Status.FAILED)
    job.status = Status.QUEUED  # the status in a stale copy

    with pytest.raises(InvalidTransition), job._move(START, by=Actor.system("imports")):
        raise AssertionError

    assert job.status == Status.FAILED


def test_a_failing_block_leaves_the_job_unchanged(a_job):
    job = a_job(Status.QUEUED)
    before = stored(job)

    with pytest.raises(ZeroDivisionError), job._move(REFUSE, by=Actor.system("imports")):
        raise ZeroDivisionError

    assert stored(job) == before
    assert not Event.objects.exists()
