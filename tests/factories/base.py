"""The common base of the factories."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model
from factory.django import DjangoModelFactory

M = TypeVar("M", bound=Model)


class ModelFactory(DjangoModelFactory[M]):
    """A factory of rows: `create()` saves the row, `build()` does not."""

    class Meta:
        abstract = True

    @classmethod
    def create_in_bulk(cls, size: int, **fields: object) -> list[M]:
        """Create a number of rows with one INSERT. The rows that they refer to must exist.

        `factory.Iterator` gives a field a different value in each row.
        """
        rows: list[M] = cls._meta.model._default_manager.bulk_create(cls.build_batch(size, **fields))
        return rows
