"""Imports over the API (endpoints 9 and 12, contract 6 and 12)."""

from imports.views.jobs import ErrorsViewSet, ImportsViewSet, ImportViewSet
from imports.views.mappings import MappingsViewSet, MappingViewSet
from imports.views.settings import PolicyViewSet, TemplateViewSet, auto_import_view
from imports.views.starting import starting_view

__all__ = [
    "ErrorsViewSet",
    "ImportViewSet",
    "ImportsViewSet",
    "MappingViewSet",
    "MappingsViewSet",
    "PolicyViewSet",
    "TemplateViewSet",
    "auto_import_view",
    "starting_view",
]
