"""Actions on automatic imports: set up, switch on, and switch off the import of uploaded files."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor
from accounts.models import Supplier
from accounts.operating.operator_actions import AdminAction
from imports.kinds import kind_of
from imports.models import AutoImport
from imports.services import save_auto_import
from portal.connections.forms import AutoImportForm


def _set_up(supplier: Supplier, by: Actor, answers: dict[str, Any]) -> str:
    kind = kind_of(answers["kind"])
    options = kind.checked_options(supplier, answers["body"])
    kind.with_mapping(supplier, options)  # this call raises for an unknown mapping
    save_auto_import(supplier, kind.name, {"options": options, "enabled": True}, by=by)
    return f"Files in the folder {kind.folder}/ are imported from now on."


def _switch(enabled: bool) -> Any:
    def run(automatic: AutoImport, by: Actor, answers: dict[str, object]) -> str:
        save_auto_import(automatic.supplier, automatic.kind, {"enabled": enabled}, by=by)
        return f"The automatic import is switched {'on' if enabled else 'off'}."

    return run


def _folder(automatic: AutoImport) -> str:
    return f"{kind_of(automatic.kind).folder}/"


SET_UP = AdminAction[Any](
    "set-up-import",
    "Set up automatic import",
    _set_up,
    lambda supplier: "",
    lambda supplier: "Each file that is uploaded by SFTP is imported at once.",
    form=AutoImportForm.of,
    help_text="The settings replace earlier ones for the same content.",
    undo="Switch the automatic import off.",
)
OF_MEMBERS = (
    AdminAction[AutoImport](
        "switch-on",
        "Switch on import",
        _switch(True),
        lambda automatic: "The automatic import is switched on." if automatic.enabled else "",
        lambda automatic: f"Files in {_folder(automatic)} are imported from now on.",
        undo="Switch the import off.",
    ),
    AdminAction[AutoImport](
        "switch-off",
        "Switch off import",
        _switch(False),
        lambda automatic: "" if automatic.enabled else "The automatic import is switched off.",
        lambda automatic: f"Files in {_folder(automatic)} stay there and are not imported.",
        undo="Switch the import on again.",
        danger=True,
    ),
)
