"""The look of a retailer's packing slips (contract 22)."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import Q

from accounts.models import Partnership, Retailer


class SlipLanguage(models.TextChoices):
    """The languages of the printed words."""

    ENGLISH = "en", "English"
    GERMAN = "de", "German"
    FRENCH = "fr", "French"
    SPANISH = "es", "Spanish"
    ITALIAN = "it", "Italian"
    DUTCH = "nl", "Dutch"
    POLISH = "pl", "Polish"


class SlipPaper(models.TextChoices):
    """The sizes of paper."""

    A4 = "a4", "A4"
    LETTER = "letter", "Letter"


class SlipTemplateQuerySet(models.QuerySet["SlipTemplate"]):
    def of_retailer(self, retailer: Retailer) -> Self:
        """Keep the retailer's own template, without the templates of its partnerships."""
        return self.filter(retailer=retailer, partnership=None)


class SlipTemplate(models.Model):
    """The slip template of a retailer, or of one partnership.

    A partnership's template replaces the template of its retailer.
    """

    retailer = models.ForeignKey(
        Retailer, on_delete=models.PROTECT, related_name="slip_templates", editable=False
    )
    partnership = models.OneToOneField(
        Partnership, on_delete=models.PROTECT, related_name="slip_template", null=True, editable=False
    )
    wanted = models.BooleanField(
        default=True, verbose_name="Slips wanted", help_text="If off, suppliers get no slips: 403."
    )
    language = models.CharField(max_length=2, choices=SlipLanguage.choices, default=SlipLanguage.ENGLISH)
    paper = models.CharField(max_length=6, choices=SlipPaper.choices, default=SlipPaper.A4)
    header = models.TextField(
        max_length=600, blank=True, help_text="The first line is large. Empty: the retailer's name."
    )
    footer = models.TextField(max_length=600, blank=True, help_text="Small text at the end of each page.")
    return_address = models.TextField(max_length=600, blank=True)
    show_prices = models.BooleanField(
        default=False, help_text="Show the amounts that the customer paid. Gifts never show them."
    )
    show_supplier = models.BooleanField(default=False, help_text="Show the name of the supplier.")
    logo = models.BinaryField(default=bytes, blank=True)

    objects = SlipTemplateQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("retailer", condition=Q(partnership=None), name="slip_template_once"),
            models.CheckConstraint(
                condition=Q(language__in=SlipLanguage.values), name="slip_template_language"
            ),
            models.CheckConstraint(condition=Q(paper__in=SlipPaper.values), name="slip_template_paper"),
        ]

    def __str__(self) -> str:
        return f"packing slip of {self.partnership or self.retailer}"
