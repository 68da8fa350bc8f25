import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q

FORWARD = """
CREATE TRIGGER stock_created BEFORE INSERT ON inventory_stocklevel
    FOR EACH ROW EXECUTE FUNCTION stamp_changed_in();
CREATE TRIGGER stock_changed BEFORE UPDATE ON inventory_stocklevel
    FOR EACH ROW WHEN (OLD.on_hand <> NEW.on_hand OR OLD.reserved <> NEW.reserved)
    EXECUTE FUNCTION stamp_changed_in();
"""

BACKWARD = """
DROP TRIGGER stock_changed ON inventory_stocklevel;
DROP TRIGGER stock_created ON inventory_stocklevel;
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0003_change_triggers"), ("inventory", "0001_initial")]

    operations = [
        migrations.RemoveIndex("stocklevel", "stock_overpromised"),
        migrations.AlterField(
            "stocklevel",
            "variant",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="stock",
                to="catalog.variant",
            ),
        ),
        migrations.AlterField(
            "stocklevel",
            "warehouse",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="stock",
                to="inventory.warehouse",
            ),
        ),
        migrations.AddField(
            "stocklevel",
            "overpromised",
            models.GeneratedField(
                expression=Q(reserved__gt=F("on_hand")), output_field=models.BooleanField(), db_persist=True
            ),
        ),
        migrations.AddField(
            "stocklevel",
            "changed_in",
            models.BigIntegerField(
                db_default=0,
                editable=False,
                help_text="The transaction that last moved it; set by a trigger.",
            ),
        ),
        migrations.AddIndex(
            "stocklevel", models.Index("id", condition=Q(overpromised=True), name="stock_overpromised")
        ),
        migrations.AddIndex(
            "stocklevel",
            django.contrib.postgres.indexes.BrinIndex(
                "changed_in", pages_per_range=16, autosummarize=True, name="stock_changed_in"
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
