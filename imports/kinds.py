"""The registry of import kinds. The app that owns a kind registers its description in `ready()`.

All code outside the owning app uses this description: choices, folders, scopes, paths of the API, templates,
automatic imports, the operators' upload form and metrics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from accounts.models import Supplier
from accounts.scopes import Scope
from imports.models import kind as stored
from imports.pipeline import importer as importers
from imports.pipeline.importer import Importer
from imports.saved_mappings import with_saved_mapping
from imports.shop_exports.export import StockExport
from sftp_ingest.area import paths


class SettingsBody(Protocol):
    """The serializer of a request body with the options of imports."""

    @property
    def validated_data(self) -> Any: ...

    @property
    def errors(self) -> Any: ...

    def is_valid(self, *, raise_exception: bool = False) -> bool: ...

    def options(self) -> dict[str, object]:
        """Return the options that a job or an automatic import stores. Raises Invalid."""


class StartBody(SettingsBody, Protocol):
    """The serializer of the body of a request that starts an import."""

    def named_file(self) -> tuple[str, str]:
        """Return the name of the field for the file, and its value: a path, a URL, or "" without a file."""


class OptionsForm(Protocol):
    """The operators' form for the options of an uploaded file."""

    def body(self) -> dict[str, object]:
        """Return the chosen options as the body of an API request. Raises Invalid for a missing choice."""


class FormOfOptions(Protocol):
    """The class of an OptionsForm."""

    def __call__(
        self, supplier: Supplier, columns: Sequence[str], data: object = None, *, initial: object = None
    ) -> OptionsForm: ...

    def initial_of(self, body: Mapping[str, object]) -> dict[str, object]:
        """Return the form's initial values from a request body."""

    def guessed_body(self, supplier: Supplier, columns: Sequence[str]) -> dict[str, object]:
        """Return a request body with the mapping that fits a file's column names."""


@dataclass(frozen=True)
class KindApi:
    """The API requests of a kind. Files of a kind without an API only come through its folder."""

    path: str
    """The last part of the path that starts an import, such as `importProducts`."""
    status: int
    """The HTTP status of the answer, as the interface specifies it."""
    body: Callable[..., StartBody]
    settings_body: Callable[..., SettingsBody]
    """The body of an automatic import's settings."""
    files: str
    """The words for files of this kind, such as `product files`."""
    description: str

    @property
    def operation_id(self) -> str:
        return re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", self.path)


@dataclass(frozen=True)
class ImportKind:
    """The description of an import kind: the content of a file, and how it is imported."""

    name: str
    importer: Importer
    read_scope: Scope
    write_scope: Scope
    folder: str = ""
    """The folder of the upload area with files of this kind; by default the kind's name."""
    api: KindApi | None = None
    content: str = ""
    """The content of a file in words, for the operators' upload form."""
    done_elsewhere: str = ""
    """A sentence that names the page where operators do this work.

    If it is set, operators cannot upload or correct files of the kind.
    """
    has_saved_mappings: bool = False
    """Whether mappings of this kind are saved by name. Exactly one kind has saved mappings."""
    own_mappings: Mapping[str, StockExport] = field(default_factory=dict)
    """The built-in mappings that only this kind has, by name; empty for a kind with saved mappings."""
    form: FormOfOptions | None = None
    """The operators' form for the options. For a kind without a form, operators map column by column."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", self.folder or self.name)

    @property
    def area(self) -> str:
        """Return the area of the scopes and events of this kind, such as `catalog`."""
        return self.read_scope.partition(":")[0]

    def checked_options(self, supplier: Supplier, body: SettingsBody) -> dict[str, object]:
        """Return the options of a body if this supplier may use them. Raises Invalid."""
        return self.importer.check(supplier, body.options())

    def with_mapping(self, supplier: Supplier, options: Mapping[str, Any]) -> dict[str, object]:
        """Return an import's options, merged with the mapping that they name. Raises Invalid."""
        if self.own_mappings and (name := options.get("mapping")):
            return {**options, "rows": dict(self.own_mappings[name].rows)}
        return with_saved_mapping(supplier, options)

    @property
    def imports_every_file(self) -> bool:
        """Return whether each file in the folder is imported, without settings of the supplier."""
        return self.api is None


_kinds: dict[str, ImportKind] = {}


def register(kind: ImportKind) -> None:
    """Add a kind. Apps call this in `ready()`."""
    _kinds[kind.name] = kind
    importers.register(kind.name, kind.importer)
    stored.add_name(kind.name, kind.area)
    paths.add_import_folder(kind.folder, kind.name)


def all_kinds() -> list[ImportKind]:
    return [*_kinds.values()]


def kind_of(name: str) -> ImportKind:
    return _kinds[name]


def uploaded_by_operators() -> list[ImportKind]:
    return [kind for kind in all_kinds() if not kind.done_elsewhere]


def kind_with_mappings() -> ImportKind:
    """Return the only kind that has saved mappings."""
    return next(kind for kind in all_kinds() if kind.has_saved_mappings)
