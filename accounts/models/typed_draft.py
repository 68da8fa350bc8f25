"""Kept texts: fields of forms that were sent after the end of the session."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models.functions import Now


class TypedDraft(models.Model):
    """The encrypted fields of one form. They are kept for their author until the form is sent again."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="typed_drafts")
    path = models.CharField(max_length=500, help_text="The page of the form.")
    fields = models.TextField(help_text="The names and values of the fields, encrypted.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("user", "path", name="typed_draft_once")]
        indexes = [models.Index("created_at", name="typed_draft_created")]

    def __str__(self) -> str:
        return self.path
