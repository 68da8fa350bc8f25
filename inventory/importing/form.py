"""The operators' form for a stock file that they uploaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from accounts.models import Supplier
from api.errors import Invalid
from api.spelling import closest_match
from imports.shop_exports import OF_STOCK, recognise_stock
from inventory.importing.bodies import ID_TYPES
from inventory.models import Warehouse

AMOUNTS = ("quantity", "qty", "stock", "on_hand", "available", "amount", "inventory")
WAREHOUSE_COLUMNS = ("warehouse", "warehouse_id", "location", "lager")
IN_COLUMN = "column"


class StockForm(forms.Form):
    """The mapping of a stock file: its columns and its warehouse."""

    mapping = forms.ChoiceField(
        required=False,
        choices=[
            ("", "a file with the columns below"),
            *((each.name, each.title) for each in OF_STOCK.values()),
        ],
        label="File format",
    )
    id_field = forms.ChoiceField(label="Column with the product")
    id_type = forms.ChoiceField(
        choices=[(each, each) for each in ID_TYPES], label="Identifier of the product"
    )
    amount_field = forms.ChoiceField(label="Column with the quantity")
    warehouse = forms.ChoiceField(label="Warehouse")
    warehouse_field = forms.ChoiceField(required=False, label="Column with the warehouse")
    mode = forms.ChoiceField(
        choices=[
            ("delta", "updates the listed stock; other stock stays unchanged"),
            ("full", "replaces all stock: stock that is not listed becomes 0"),
        ],
        label="Effect of the file",
    )

    def __init__(self, supplier: Supplier, columns: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        listed = [(name, name) for name in columns if name]
        warehouses = Warehouse.objects.filter(supplier=supplier).order_by("-is_default", "id")
        self._choose("id_field", listed)
        self._choose("amount_field", listed)
        self._choose("warehouse_field", [("", "–"), *listed])
        self._choose(
            "warehouse",
            [
                *((str(each.pk), each.name) for each in warehouses),
                (IN_COLUMN, "from a column of the file"),
            ],
        )

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def body(self) -> dict[str, object]:
        """Return the chosen options as the body of an API request. Raises Invalid for a missing choice."""
        if not self.is_valid():
            data = self.errors.get_json_data().items()
            faults = (f"{self.fields[name].label}: {each['message']}" for name, all_ in data for each in all_)
            raise Invalid(" ".join(faults))
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        warehouse = chosen.pop("warehouse", "")
        if chosen.get("mapping"):
            # Drop the other options, because the mapping defines the columns of the file.
            chosen = {name: chosen[name] for name in ("mapping", "mode") if name in chosen}
        if warehouse == IN_COLUMN:
            return chosen
        chosen.pop("warehouse_field", None)
        return {**chosen, "warehouse_id": int(warehouse)} if warehouse else chosen

    @classmethod
    def initial_of(cls, body: Mapping[str, object]) -> dict[str, object]:
        """Return the form's initial values from a request body."""
        named = body.get("warehouse_field") or (body.get("mapping") and not body.get("warehouse_id"))
        warehouse = IN_COLUMN if named else str(body.get("warehouse_id") or "")
        return {**body, "warehouse": warehouse}

    @classmethod
    def guessed_body(cls, supplier: Supplier, columns: Sequence[str]) -> dict[str, Any]:
        """Guess the mapping from the names of a stock file's columns."""
        if export := recognise_stock(columns):
            return {"mapping": export.name, "mode": "delta"}
        by_name = {name.strip().casefold(): name for name in columns}
        id_type = next((each for each in ID_TYPES if each in by_name), "sku")
        warehouse_column = next((by_name[each] for each in WAREHOUSE_COLUMNS if each in by_name), "")
        default = Warehouse.objects.filter(supplier=supplier).order_by("-is_default", "id").first()
        body = {
            "id_type": id_type,
            "id_field": by_name.get(id_type, _near("sku", columns) or next(iter(columns), "")),
            "amount_field": next((by_name[each] for each in AMOUNTS if each in by_name), "")
            or _near("quantity", columns)
            or (columns[-1] if columns else ""),
            "mode": "delta",
        }
        if warehouse_column:
            return {**body, "warehouse_field": warehouse_column}
        return {**body, "warehouse_id": default.pk} if default else body


def _near(name: str, columns: Sequence[str]) -> str:
    return closest_match(name, list(columns)) or ""
