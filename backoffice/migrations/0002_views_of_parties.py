"""Give saved views a party. The model moves to `accounts`; its table keeps its name for the previous release."""

import django.db.models.deletion
from django.db import migrations, models


def party(name):
    return migrations.AddField(
        "savedview",
        name,
        models.ForeignKey(
            f"accounts.{name}", django.db.models.deletion.PROTECT, null=True, related_name="saved_views"
        ),
    )


OF_LIST = models.UniqueConstraint(
    "owner", "model", "name", "supplier", "retailer", name="saved_view_of_list", nulls_distinct=False
)


class Migration(migrations.Migration):
    dependencies = [("backoffice", "0001_release_1"), ("accounts", "0002_saved_views")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel("savedview")],
            database_operations=[
                party("supplier"),
                party("retailer"),
                migrations.AddConstraint("savedview", OF_LIST),
                migrations.RemoveConstraint("savedview", "saved_view_once"),
            ],
        )
    ]
