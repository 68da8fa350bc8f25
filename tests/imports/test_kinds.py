"""Each import kind is in every list and table that needs its description from `imports.kinds`."""

from __future__ import annotations

import re
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from django.urls import Resolver404, resolve

from accounts.scopes import ROLE_SCOPES, Role, Scope
from api.bodies import Body
from api.fields import Flag, Text
from backoffice.importing.forms import UploadForm
from events.webhooks.types import AUTO_IMPORTS, IMPORTS, types_of
from imports import kinds, urls
from imports.filters import ImportFilter
from imports.kinds import ImportKind, KindApi, all_kinds, kind_of
from imports.models import AutoImport, ImportDraft, ImportJob, SavedMapping
from imports.models import kind as stored
from imports.pipeline import importer as importers
from imports.pipeline.columns import TextColumn
from imports.pipeline.job_runner import run_job
from imports.pipeline.row_importer import RowImporter
from imports.templates import TemplatesFolder
from sftp_ingest.area import paths
from tests.architecture.sources import ROOT, text_of

GUIDE = text_of("docs/api-guide.md")
REGISTRIES = (kinds._kinds, stored._areas, importers._importers, paths._imported_as)


def answers_at(path):
    try:
        resolve(f"/v3/suppliers/1/{path}")
    except Resolver404:
        return False
    return True


def forgotten_places(kind):
    """Return the lists and tables that should have a kind, and lack it."""
    columns = [model._meta.get_field("kind") for model in (ImportJob, AutoImport, ImportDraft, SavedMapping)]
    events = {*IMPORTS, *(AUTO_IMPORTS if kind.api else ())}
    places = {
        "registry": kinds._kinds.get(kind.name) is kind,
        "importer": importers._importers.get(kind.name) is kind.importer,
        "stored rows": all(kind.name in dict(column.flatchoices) for column in columns),
        "filter of jobs": kind.name in dict(ImportFilter.base_filters["kind"].extra["choices"]),
        "folder": kind.folder in paths.standing_folders(),
        "uploads": paths.import_kind_of(f"{kind.folder}/a.csv") == kind.name,
        "template by SFTP": f"{kind.folder}.csv" in TemplatesFolder().files(1),
        "template": answers_at(f"templates/{kind.folder}.csv"),
        "request": not kind.api or answers_at(kind.api.path),
        "automatic import": not kind.api or answers_at(f"autoImports/{kind.name}"),
        "scopes": {kind.read_scope, kind.write_scope} <= ROLE_SCOPES[Role.SUPPLIER],
        "event types": events <= {*types_of(Role.SUPPLIER, [kind.area])},
        "upload by operators": bool(kind.done_elsewhere)
        or kind.name in dict(UploadForm().fields["kind"].widget.choices),
        "guide": f"`{kind.folder}/`" in GUIDE and (not kind.api or kind.api.path in GUIDE),
    }
    return {place for place, is_there in places.items() if not is_there}


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.name)
def test_each_kind_is_in_every_place(kind):
    assert forgotten_places(kind) == set()


def test_one_kind_has_saved_mappings():
    assert [kind.name for kind in all_kinds() if kind.has_saved_mappings] == ["products"]


def test_the_architecture_lists_four_places_that_exist():
    section = text_of("docs/architecture.md").partition("## How to add an import kind")[2]
    steps = re.findall(r"^\d\. .*$", section.partition("\n## ")[0], re.MULTILINE)
    files = [re.findall(r"`([\w/.-]+\.py)`", step)[0] for step in steps]

    assert len(files) == 4
    assert [file for file in files if not (ROOT / file).is_file()] == []


class RecallImporter(RowImporter):
    """The importer of a fictional kind: each row recalls a variant from the market."""

    columns = {"sku": TextColumn("sku", required=True), "reason": TextColumn("reason")}

    def __init__(self):
        self.carried_out = []

    def mandatory(self, options):
        return ["sku"]

    def together(self, context):
        return [context.mapped.values["sku"]]

    def repeated(self, job, rows):
        return set()

    def carry_out(self, job, rows):
        self.carried_out += [dict(row) for row in rows]
        return True


class RecallBody(Body):
    url = Text(max_length=1000)
    enabled = Flag(required=False)

    def options(self):
        return {}

    def named_file(self):
        return "url", self.validated_data["url"]


@pytest.fixture
def recalls():
    return ImportKind(
        name="recalls",
        importer=RecallImporter(),
        read_scope=Scope.CATALOG_READ,
        write_scope=Scope.CATALOG_WRITE,
        api=KindApi(
            path="importRecalls",
            status=201,
            body=RecallBody,
            settings_body=RecallBody,
            files="recall files",
            description="Starts a job.",
        ),
        content="variants to take back",
    )


@pytest.fixture
def registered(recalls, settings, monkeypatch):
    """Register the fictional kind for one test, and give it its paths."""
    for registry in REGISTRIES:
        for name in registry:
            monkeypatch.setitem(registry, name, registry[name])
    kinds.register(recalls)
    with_paths: Any = ModuleType("with_paths")
    with_paths.urlpatterns = [*urls.paths_of(recalls), *import_module(settings.ROOT_URLCONF).urlpatterns]
    settings.ROOT_URLCONF = with_paths
    yield recalls
    for registry in REGISTRIES:
        registry.pop("recalls", None)


def test_the_test_names_the_places_of_a_kind_that_is_not_registered(recalls):
    needed = {"registry", "importer", "stored rows", "folder", "uploads", "template", "request"}
    assert forgotten_places(recalls) >= needed


def test_registering_a_kind_fills_every_place_but_the_guide(registered):
    # The filter of the list is built with the URLs, once per process.
    assert forgotten_places(registered) == {"guide", "filter of jobs"}


def test_a_registered_kind_is_imported_from_its_folder(acme, client_for, upload, registered):
    path = upload(acme, "sku,reason\nA-1,broken\nA-2,torn\n", "recalls/monday.csv")
    client = client_for(acme)

    started = client.post("importRecalls", {"url": path})
    run_job(started.json()["id"])

    job = client.get(f"imports/{started.json()['id']}").json()
    assert (job["kind"], job["status"], job["updated"]) == ("recalls", "succeeded", 2)
    assert [row["reason"] for row in registered.importer.carried_out] == ["broken", "torn"]
    saved = client.put("autoImports/recalls", {"url": path}).json()
    assert (saved["kind"], saved["enabled"]) == ("recalls", True)
    assert kind_of("recalls").area == "catalog"
