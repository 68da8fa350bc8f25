"""Forms in the rows of a list. The visitor chooses the columns of the list."""

from __future__ import annotations

from collections.abc import Iterable

from django.forms import BaseForm

from api.ids import as_id


class RowForm(BaseForm):
    """The form of a row. It changes only fields whose inputs the page had, because columns may be hidden."""

    def leave_out_hidden(self) -> None:
        """Remove the fields of a sent form whose inputs the page did not have."""
        if self.is_bound:
            self.fields = {
                name: field for name, field in self.fields.items() if self.add_prefix(name) in self.data
            }

    @classmethod
    def sent_ids(cls, names: Iterable[str]) -> set[int]:
        """Return the ids of the rows in a sent page. The inputs of a row have names such as `7-title`."""
        parts = (name.split("-") for name in names)
        ids = {as_id(part[0]) for part in parts if len(part) == 2 and part[1] in cls.base_fields}  # type: ignore[attr-defined]
        return ids - {0}
