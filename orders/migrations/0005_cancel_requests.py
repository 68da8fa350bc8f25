import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0004_unknown_country")]

    operations = [
        migrations.CreateModel(
            name="CancelRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cancel_id", models.CharField(help_text="The retailer's own; seen once.", max_length=100)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "lines",
                    models.JSONField(default=list, help_text="As they were named; none is the whole order."),
                ),
                ("canceled", models.PositiveIntegerField(help_text="Pieces that were canceled at once.")),
                (
                    "requested",
                    models.PositiveIntegerField(help_text="Pieces that suppliers were asked to let go."),
                ),
                ("shipped", models.PositiveIntegerField(help_text="Pieces that were shipped already.")),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cancel_requests",
                        to="orders.order",
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.AddConstraint(
            model_name="cancelrequest",
            constraint=models.UniqueConstraint(models.F("order"), models.F("cancel_id"), name="cancel_request_once"),
        ),
    ]
