"""The suppliers' settings of their imports: the approval rule and automatic imports (contract 12)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypedDict

from api.bodies import Body
from api.fields import Exact, Flag, Integer
from api.renderers import number
from imports.models import AutoImport, ImportPolicy


class PolicyBody(Body):
    """The approval rule. Absent fields stay unchanged; null turns a part off."""

    zeroed_share = Exact(required=False, max_digits=4, decimal_places=3, max_value=Decimal(1))
    zeroed_least = Integer(required=False, min_value=0)
    zeroed_in_delta = Flag(required=False)
    delisted_share = Exact(
        required=False, allow_null=True, max_digits=4, decimal_places=3, max_value=Decimal(1)
    )
    price_factor = Exact(
        required=False, allow_null=True, max_digits=8, decimal_places=3, min_value=Decimal(1)
    )


class PolicyJson(TypedDict):
    """The limits above which an import waits for approval."""

    zeroed_share: Decimal
    zeroed_least: int
    zeroed_in_delta: bool
    delisted_share: Decimal | None
    price_factor: Decimal | None


def policy_json(policy: ImportPolicy) -> PolicyJson:
    return {
        "zeroed_share": number(policy.zeroed_share),
        "zeroed_least": policy.zeroed_least,
        "zeroed_in_delta": policy.zeroed_in_delta,
        "delisted_share": number(policy.delisted_share),
        "price_factor": number(policy.price_factor),
    }


class AutoImportJson(TypedDict):
    """The settings of the automatic import of files in the folder of this kind."""

    kind: str
    enabled: bool
    options: dict[str, Any]


def auto_import_json(saved: AutoImport) -> AutoImportJson:
    return {"kind": saved.kind, "enabled": saved.enabled, "options": saved.options}
