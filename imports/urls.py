from django.urls import URLPattern, path

from imports.kinds import ImportKind, all_kinds
from imports.views import (
    ErrorsViewSet,
    ImportsViewSet,
    ImportViewSet,
    MappingsViewSet,
    MappingViewSet,
    PolicyViewSet,
    TemplateViewSet,
    auto_import_view,
    starting_view,
)

SUPPLIER = "v3/suppliers/<id:supplier_id>"
JOB = f"{SUPPLIER}/imports/<id:import_id>"


def paths_of(kind: ImportKind) -> list[URLPattern]:
    """Return the paths of a kind: its template, its requests and its automatic import."""
    view = TemplateViewSet.as_view({"get": "retrieve"}, kind=kind.name)
    template = path(f"{SUPPLIER}/templates/{kind.folder}.csv", view)
    if kind.api is None:
        return [template]
    start = starting_view(kind, kind.api).as_view({"post": "create"})
    settings = auto_import_view(kind, kind.api).as_view({"get": "retrieve", "put": "update"})
    return [
        path(f"{SUPPLIER}/{kind.api.path}", start),
        path(f"{SUPPLIER}/autoImports/{kind.name}", settings),
        template,
    ]


urlpatterns = [
    path(f"{SUPPLIER}/imports", ImportsViewSet.as_view({"get": "list"})),
    path(JOB, ImportViewSet.as_view({"get": "retrieve"})),
    path(f"{JOB}/errors", ErrorsViewSet.as_view({"get": "retrieve"})),
    path(f"{JOB}/cancel", ImportViewSet.as_view({"post": "cancel"})),
    path(f"{JOB}/approve", ImportViewSet.as_view({"post": "approve"})),
    path(f"{JOB}/retry", ImportViewSet.as_view({"post": "retry"})),
    path(f"{SUPPLIER}/mappings", MappingsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        f"{SUPPLIER}/mappings/<id:mapping_id>",
        MappingViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{SUPPLIER}/importPolicy", PolicyViewSet.as_view({"get": "retrieve", "put": "update"})),
    *(pattern for kind in all_kinds() for pattern in paths_of(kind)),
]
