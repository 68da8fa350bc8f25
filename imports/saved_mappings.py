"""Named mappings: the supplier's own mappings and the built-in mappings (docs/adr/0026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import ApiError, Invalid
from api.spelling import closest_match
from events.changes import add_recorded, change_recorded, delete_recorded
from imports.models import AutoImport, SavedMapping
from imports.models.kind import area_of
from imports.shop_exports import BUILT_IN, recognise

# In place of a mapping's name, this value means the built-in mapping that the file's header identifies.
BY_HEADER = "auto"
MOST_SAVED = 100


class MappingExists(ApiError):
    """The name belongs to another mapping of the supplier or to a built-in mapping."""

    code, status = "mapping_exists", 409


class MappingInUse(ApiError):
    """An automatic import uses the mapping."""

    code, status = "mapping_in_use", 409


def with_saved_mapping(supplier: Supplier, options: Mapping[str, Any]) -> dict[str, object]:
    """Return an import's options, merged with the options of the mapping that they name. Raises Invalid.

    The import's own options have priority. The name `auto` is resolved later, when the header is known.
    """
    name = options.get("mapping", "")
    if not name or name == BY_HEADER:
        return dict(options)
    return merged(_options_of(supplier, name), options)


def _options_of(supplier: Supplier, name: str) -> Mapping[str, object]:
    if name in BUILT_IN:
        return BUILT_IN[name].options
    saved = list(SavedMapping.objects.filter(supplier=supplier))
    found = next((each for each in saved if each.name == name), None)
    if found is None:
        known = [*BUILT_IN, *(each.name for each in saved), BY_HEADER]
        near = closest_match(name, known)
        question = f" Did you mean `{near}`?" if near else ""
        message = f"There is no mapping {name!r}; there are {', '.join(known)}.{question}"
        raise Invalid.at("mapping", message, "unknown")
    options: dict[str, object] = found.options
    return options


def merged(saved: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, object]:
    """Return a saved mapping merged with the options of a request.

    The request has priority: the mapping's entries for a field that the request fills or leaves out are
    dropped.
    """
    entries = list(own.get("field_mapping", []))
    filled = {*(entry["field"] for entry in entries), *own.get("left_out", ())}
    left_out = [*own.get("left_out", ()), *(name for name in saved.get("left_out", ()) if name not in filled)]
    entries += [entry for entry in saved.get("field_mapping", []) if entry["field"] not in filled]
    return {
        **own,
        "field_mapping": entries,
        "math_transformer": own.get("math_transformer") or saved.get("math_transformer", ""),
        "rows": {**saved.get("rows", {}), **own.get("rows", {})},
        **({"left_out": left_out} if left_out else {}),
    }


def known_by_header(options: Mapping[str, object], header: Sequence[str]) -> tuple[dict[str, object], str]:
    """Return the options for a file with this header, and a hint about its mapping.

    With `auto`, the built-in mapping of the header is applied; otherwise the hint suggests it. Options that
    name a mapping or columns get no hint.
    """
    found = recognise(header)
    if found is None or (options.get("mapping") or options.get("field_mapping")) not in (BY_HEADER, None, []):
        return dict(options), ""
    export = f"The header is that of an export ({found.title})"
    if options.get("mapping") == BY_HEADER:
        sentence = f"{export}; it was read with the saved mapping {found.name!r}."
        return merged(found.options, {**options, "mapping": found.name}), sentence
    return dict(options), f'{export}. Use "mapping": "{found.name}" to read it as one.'


def create_mapping(
    supplier: Supplier, kind: str, name: str, options: dict[str, object], *, by: Actor
) -> SavedMapping:
    """Save a mapping under a new name. Raises MappingExists, or Invalid if there are too many."""
    if SavedMapping.objects.filter(supplier=supplier).count() >= MOST_SAVED:
        raise Invalid(f"{MOST_SAVED} mappings are saved, and more are not allowed. Delete one first.")
    saved = SavedMapping(supplier=supplier, kind=kind, name=name, options=options)
    try:
        with transaction.atomic():
            add_recorded(saved, "import_mapping", by=by, **mapping_event(saved))
    except IntegrityError as error:
        raise MappingExists(f"There is already a mapping {name!r}. Change it with PUT.") from error
    saved.refresh_from_db()
    return saved


def change_mapping(saved: SavedMapping, name: str, options: dict[str, object], *, by: Actor) -> None:
    """Change a mapping's name or content.

    Raises MappingExists, or MappingInUse if the name changes while an automatic import uses the mapping.
    """
    with transaction.atomic():
        if name != saved.name:
            _refuse_used(saved)
        saved.name, saved.options = name, options
        try:
            with transaction.atomic():
                if change_recorded(
                    saved, ["name", "options"], "import_mapping", by=by, **mapping_event(saved)
                ):
                    saved.updated_at = timezone.now()
                    saved.save(update_fields=["updated_at"])
        except IntegrityError as error:
            raise MappingExists(f"There is already a mapping {name!r}.") from error


def delete_mapping(saved: SavedMapping, *, by: Actor) -> None:
    """Delete a mapping. Raises MappingInUse."""
    with transaction.atomic():
        _refuse_used(saved)
        delete_recorded(saved, "import_mapping", by=by, **mapping_event(saved))


def _refuse_used(saved: SavedMapping) -> None:
    automatic = AutoImport.objects.filter(supplier_id=saved.supplier_id, options__mapping=saved.name)
    if automatic.select_for_update().exists():
        message = (
            f"The automatic import of {saved.kind} uses the mapping {saved.name!r}. Change that import first."
        )
        raise MappingInUse(message)


def mapping_event(saved: SavedMapping) -> dict[str, Any]:
    """Return the fields of an event about a saved mapping."""
    return {
        "area": area_of(saved.kind),
        "supplier": saved.supplier,
        "data": {"name": saved.name, "kind": saved.kind},
    }
