"""The texts by which a search finds orders."""

from __future__ import annotations

from django.db import models

from api.inside_search import trigrams
from api.prefix_search import COLLATION


class SearchEntry(models.Model):
    """A lower-case text that finds an order: one of its numbers, or the customer's name or e-mail.

    A database trigger writes the entries, so no code can forget an entry. The texts have their own table,
    because each update of an order's row would also update the indexes of texts in this row. After a
    correction of the address, the former texts still find the order.
    """

    pk = models.CompositePrimaryKey("text", "order_id")
    text = models.CharField(max_length=100, db_collation=COLLATION)
    order_id = models.BigIntegerField()
    kind = models.CharField(max_length=20, help_text="The kind of text, such as `customer`.")

    class Meta:
        ordering = ["text", "order_id"]
        indexes = [trigrams("text", "search_entry_trigrams")]

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"
