"""Imports over the API (endpoints 9 and 12, contract 6 and 12)."""

from imports.views.jobs import ErrorsViewSet, ImportsViewSet, ImportViewSet
from imports.views.mappings import MappingsViewSet, MappingViewSet
from imports.views.settings import (
    AutoInventoryViewSet,
    AutoProductsViewSet,
    PolicyViewSet,
    TemplateViewSet,
)
from imports.views.starting import ImportInventoryViewSet, ImportProductsViewSet

__all__ = [
    "AutoInventoryViewSet",
    "AutoProductsViewSet",
    "ErrorsViewSet",
    "ImportInventoryViewSet",
    "ImportProductsViewSet",
    "ImportViewSet",
    "ImportsViewSet",
    "MappingViewSet",
    "MappingsViewSet",
    "PolicyViewSet",
    "TemplateViewSet",
]
