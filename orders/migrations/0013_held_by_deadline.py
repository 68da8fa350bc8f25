import datetime

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

OPEN = ~Q(processing_state__in=["completed", "canceled"])


def by_deadline(name, flagged):
    deadline = Coalesce("ship_until", Value(datetime.date(9999, 12, 31)))
    return AddIndexConcurrently("order", models.Index(deadline, F("id"), condition=flagged & OPEN, name=name))


class Migration(migrations.Migration):
    # Built while others write: the table has millions of rows.
    atomic = False

    dependencies = [("orders", "0012_open_by_deadline")]

    operations = [
        by_deadline("order_held_due", Q(held=True)),
        by_deadline("order_no_country_due", Q(has_unknown_country=True)),
    ]
