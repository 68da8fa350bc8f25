"""Imports in the admin: the content of a page, its buttons, and the rights to press them."""

from __future__ import annotations

import factory
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from events.models import Event
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from inventory.models import StockLevel, Warehouse
from sftp_ingest.area import contents
from tests.backoffice.conftest import choose, confirm, do, messages, operator, support
from tests.factories import ImportJobFactory, RejectFactory, StockLevelFactory

__all__ = ["operator", "support"]

LIST = "/admin/imports/importjob/"
FAILED = {"status": Status.FAILED, "error": {"code": "no_header", "message": "The file has no header."}}


@pytest.fixture
def a_job(acme, settings):
    def make(**fields):
        blob = contents.write([b"sku,title,retail_price\nA-1,Shirt,1\n"])
        return ImportJobFactory.create(**{"supplier": acme, "blob": blob, **fields})

    return make


@pytest.fixture
def held(acme, a_variant, stocked):
    """Import a full stock file that would set 119 of 120 variants to 0, so it waits for approval."""
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    for number in range(120):
        StockLevelFactory.create(variant=a_variant(acme, f"B-{number}"), warehouse=east, on_hand=5)
    job = stocked(acme, "sku,quantity\nB-0,5\n", mode="full")
    assert job["status"] == "awaiting_approval"
    return ImportJob.objects.get(pk=job["id"])


def page_of(client, job):
    page = client.get(f"{LIST}{job.pk}/change/")
    assert page.status_code == 200
    return page


def offered(client, job):
    return [action.name for action in page_of(client, job).context["record_actions"]]


BUTTONS = {
    Status.QUEUED: ["cancel"],
    Status.RUNNING: ["cancel"],
    Status.AWAITING_APPROVAL: ["approve", "cancel", "message"],
    Status.SUCCEEDED: ["message"],
    Status.SUCCEEDED_WITH_ERRORS: ["message"],
    Status.FAILED: ["retry", "message"],
    Status.CANCELED: ["message"],
}


@pytest.mark.parametrize("status", Status)
def test_a_page_offers_the_actions_of_its_state_and_no_save_button(operator, support, a_job, status):
    job = a_job(status=status)

    assert offered(operator, job) == BUTTONS[status]
    assert offered(support, job) == []
    assert 'name="_save"' not in page_of(operator, job).text


@pytest.mark.parametrize(
    ("action", "status"),
    [("approve", Status.AWAITING_APPROVAL), ("retry", Status.FAILED), ("cancel", Status.QUEUED)],
)
def test_support_cannot_act_by_page_or_by_list(support, a_job, action, status):
    job = a_job(status=status)

    assert do(support, job, action).status_code == 403
    support.post(LIST, {"action": action, "_selected_action": [job.pk]})

    job.refresh_from_db()
    assert (job.status, Event.objects.count()) == (status, 0)
    assert 'name="action"' not in support.get(LIST).text


def test_a_held_import_says_why_it_waits_and_an_operator_releases_it_with_a_reason(operator, held):
    page = page_of(operator, held)
    assert "The file would set 119 of 120 stocked variants to 0." in page.text

    page = do(operator, held, "approve", reason="The shop is closing")

    assert messages(page) == [f"Import {held.pk} is approved. Its status is queued."]
    approved = Event.objects.get(type="import.approved")
    assert (approved.actor, approved.data["reason"]) == ("user:olga", "The shop is closing")
    assert "The shop is closing" in page.text
    run_job(held.pk)
    held.refresh_from_db()
    assert (held.status, held.report["zeroed"]) == (Status.SUCCEEDED, 119)


def test_an_operator_cancels_a_waiting_import_after_a_confirmation(operator, held):
    asked = operator.get(f"{LIST}{held.pk}/do/cancel/")
    assert "Cancel import" in asked.text
    held.refresh_from_db()
    assert held.status == Status.AWAITING_APPROVAL

    page = do(operator, held, "cancel", reason="A cut-off file")

    assert messages(page) == [f"Import {held.pk} is canceled."]
    assert Event.objects.get(type="import.canceled").data["reason"] == "A cut-off file"
    assert StockLevel.objects.filter(on_hand=0).count() == 0


def test_a_running_import_stops_at_its_next_range_and_the_history_names_the_actor(operator, a_job):
    job = a_job(status=Status.RUNNING)

    page = do(operator, job, "cancel", reason="Wrong file")
    again = do(operator, job, "cancel")

    assert messages(page) == [f"Import {job.pk} stops within seconds. Rows that landed stay."]
    assert messages(again) == [f"Import {job.pk} is already stopping."]
    [asked] = Event.objects.filter(type="import.cancel_requested")
    assert (asked.actor, asked.data["reason"]) == ("user:olga", "Wrong file")
    assert page.context["record_actions"] == []
    job.refresh_from_db()
    assert (job.status, job.cancel_requested) == (Status.RUNNING, True)


def test_a_failed_import_shows_its_reason_and_can_run_again(operator, a_job):
    job = a_job(**FAILED, options={"field_mapping": [], "math_transformer": ""})
    assert "The file has no header." in page_of(operator, job).text

    page = do(operator, job, "retry")

    assert messages(page) == [f"Import {job.pk} runs again from the start of its file."]
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.created, job.error) == (Status.SUCCEEDED, 1, None)


def test_the_preview_of_a_retry_names_the_later_import_whose_values_it_replaces(operator, a_job):
    products, stock = a_job(**FAILED), a_job(kind="inventory", **FAILED)
    retry = f"{LIST}%s/do/retry/"
    assert "came later" not in operator.get(retry % products.pk).text

    later = a_job(status=Status.SUCCEEDED)
    a_job(kind="inventory", status=Status.SUCCEEDED)

    assert f"Import {later.pk} came later." in operator.get(retry % products.pk).text
    assert "came later" not in operator.get(retry % stock.pk).text  # older counts are refused row by row


def test_a_job_without_its_file_has_no_button_and_names_the_remedy(operator, a_job):
    job = a_job(**FAILED)
    assert "no longer stored" not in page_of(operator, job).text
    job.release_content()

    assert offered(operator, job) == ["message"]
    assert "no longer stored" in page_of(operator, job).text
    [message] = messages(do(operator, job, "retry"))
    assert "no longer stored" in message
    assert "Start a new import" in message


def test_an_action_that_the_state_forbids_changes_nothing(operator, a_job):
    job = a_job(status=Status.SUCCEEDED)
    for action in ("approve", "retry", "cancel"):
        [message] = messages(do(operator, job, action))
        assert "This import is succeeded" in message
    job.refresh_from_db()
    assert job.status == Status.SUCCEEDED


def test_jobs_are_retried_from_the_list_although_one_of_them_cannot_be_retried(operator, a_job):
    jobs = [a_job(**FAILED), a_job(status=Status.SUCCEEDED), a_job(**FAILED)]

    page = confirm(operator, choose(operator, ImportJob, "retry", jobs))

    assert "2 done; 1 left out." in page.text
    assert "This import is succeeded" in page.text
    statuses = ImportJob.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["queued", "succeeded", "queued"]


def test_the_page_of_a_running_job_shows_progress_and_reloads(operator, a_job, monkeypatch):
    monkeypatch.setattr("imports.overview.progress", lambda job: (20_000, 40))
    job = a_job(status=Status.RUNNING, rows_total=1_000_000, rows_done=200_000)

    page = page_of(operator, job)

    assert "200,000 of 1,000,000 rows, 20,000 rows/s, 40 s left" in page.text
    assert '<progress max="100" value="20">' in page.text
    assert '<meta name="reload-after" content="3">' in page.text
    ImportJob.objects.update(status=Status.SUCCEEDED)
    assert '<meta name="reload-after"' not in page_of(operator, job).text


def test_rejects_are_grouped_by_kind_and_given_as_the_suppliers_own_report(operator, support, acme, ran):
    lines = ["sku,title,retail_price", "A-1,Shirt,1", "A-2,,2", "A-3,Hat,free", "A-4,,3"]
    job = ImportJob.objects.get(pk=ran(acme, data=lines)["id"])

    page = page_of(support, job)

    found = {(each.field, each.rows, each.line) for each in page.context["reject_groups"]}
    assert found == {("title", 2, 3), ("retail_price", 1, 4)}
    report = support.get(f"{LIST}{job.pk}/errors.csv")
    assert f"{LIST}{job.pk}/errors.csv" in page.text
    header = b"".join(report).decode("utf-8-sig").splitlines()[0]
    assert header == "line,field,code,message,sku,title,retail_price"
    assert report["Content-Disposition"] == f'attachment; filename="import-{job.pk}-errors.csv"'


def test_a_dry_run_shows_its_forecast(operator, acme, a_variant, ran):
    a_variant(acme, "A-1", title="Shirt", retail_price="10")
    job = ran(acme, data=["sku,title,retail_price", "A-1,Shirt,30", "A-2,Hat,1"], dry_run=True)

    page = page_of(operator, ImportJob.objects.get(pk=job["id"]))

    assert "Expected" in page.text
    assert dict(page.context["counts"]) == {
        "created": "1",
        "updated": "1",
        "unchanged": "0",
        "rejected": "0",
        "duplicates": "0",
        "delisted": "0",
    }
    assert "Largest price changes" in page.text
    assert ">A-1</td>" in page.text
    assert "would wait" not in page.text


def test_a_dry_run_reports_that_it_would_wait(operator, acme, a_variant, ran, client_for):
    a_variant(acme, "A-1", title="Shirt", retail_price="10")
    client_for(acme).put("importPolicy", {"price_factor": 2})
    job = ran(acme, data=["sku,title,retail_price", "A-1,Shirt,30"], dry_run=True)

    page = page_of(operator, ImportJob.objects.get(pk=job["id"]))

    assert f"The import would wait for approval. {job['report']['would_wait'][0]}" in page.text


def test_the_options_of_the_supplier_are_shown_in_words(operator, a_job):
    mapping = [{"source": "Name", "field": "title", "string_transformer": "uppercase"}]
    job = a_job(options={"field_mapping": mapping, "math_transformer": "weight = 1", "as_of": None})

    assert page_of(operator, job).context["options"] == [
        ("math transformer", "weight = 1"),
        ("columns", "Name → title (uppercase)"),
    ]


def test_cells_and_names_of_suppliers_are_text_and_no_markup(operator, a_job):
    evil = "<script>alert(1)</script>"
    job = a_job(source=evil, warnings=[evil], rejected=1, rows_total=1, ignored_columns=[evil])
    RejectFactory.create(job=job, field=evil, message=evil)

    assert evil not in page_of(operator, job).text
    assert '<span class="ui-badge ui-info">Queued</span>' in operator.get(LIST).text
    assert evil not in operator.get(LIST).text


def test_an_import_that_does_not_exist_leads_back_to_the_list(operator):
    for path in ("7/change/", "7/do/cancel/", "7/errors.csv"):
        page = operator.get(f"{LIST}{path}", follow=True)
        assert "exist" in messages(page)[0]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "products/b.csv"}, ["b"]),
        ({"q": "products"}, []),
        ({"status__exact": "failed"}, ["c"]),
        ({"kind__exact": "inventory"}, ["b"]),
        ({"dry_run": "1"}, ["a"]),
    ],
)
def test_the_list_is_searched_and_filtered(operator, a_job, query, found):
    a_job(source="products/a.csv", dry_run=True)
    a_job(source="products/b.csv", kind="inventory")
    a_job(source="products/c.csv", **FAILED)

    jobs = operator.get(LIST, query).context["cl"].result_list

    assert [job.source for job in jobs] == [f"products/{name}.csv" for name in found]


def test_the_list_is_filtered_by_supplier_and_searched_by_number(operator, a_job, rival):
    mine, other = a_job(), a_job(supplier=rival)

    of_rival = operator.get(LIST, {"supplier__id__exact": rival.pk}).context["cl"].result_list
    numbered = operator.get(LIST, {"q": str(mine.pk)}).context["cl"].result_list

    assert [*of_rival, *numbered] == [other, mine]


@pytest.mark.parametrize(
    "query",
    [{}, {"q": "products/7.csv"}, {"q": "7"}, {"status__exact": "failed"}, {"dry_run": "1"}],
    ids=str,
)
def test_no_list_reads_a_long_table_whole(operator, acme, query):
    job = ImportJobFactory.create(supplier=acme, status="succeeded")
    columns = [str(each.column) for each in ImportJob._meta.local_concrete_fields if not each.primary_key]
    taken = ", ".join("'products/' || n || '.csv'" if name == "source" else name for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO imports_importjob ({', '.join(columns)}) SELECT {taken}"
            " FROM imports_importjob CROSS JOIN generate_series(1, 30000) AS n WHERE id = %s",
            [job.pk],
        )
        cursor.execute("ANALYZE imports_importjob")

    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert operator.get(LIST, query).status_code == 200

    listed = [each["sql"] for each in asked if 'FROM "imports_importjob"' in each["sql"]]
    assert listed
    for statement in listed:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {statement}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
        # The count of a list stops at 10,000, so it may read the table without an index.
        if query or "COUNT" not in statement:
            assert "Seq Scan on imports_importjob" not in plan, plan


def test_pages_cost_the_same_for_any_content(operator, a_job, django_assert_num_queries):
    few, many = a_job(), a_job(rejected=50, rows_total=50)
    fields = [f"f{number}" for number in range(30)]
    RejectFactory.create_in_bulk(
        50, job=many, line=factory.Iterator(range(50)), field=factory.Iterator(fields)
    )
    page_of(operator, few)

    # Queries: session, user, second factor, permissions twice, job, history, comments, messages; the job and
    # its supplier for the buttons, twice the draft of the job, and the import that the job corrects.
    with django_assert_num_queries(14):
        page_of(operator, few)
    with django_assert_num_queries(16):  # two more: the job's rejects, and the corrected rejects
        page_of(operator, many)


def test_a_list_of_any_length_costs_the_same(operator, a_job, django_assert_num_queries):
    def count_queries():
        with CaptureQueriesContext(connection) as asked:
            operator.get(LIST)
        return len(asked)

    a_job()
    count_queries()
    one = count_queries()
    for _ in range(5):
        a_job()
    assert count_queries() == one
