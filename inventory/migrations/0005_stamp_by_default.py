"""As of variants: a new level's transaction is its column's default."""

from django.db import migrations, models
from django.db.models.functions import Cast

STAMPED = "NEW.changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint"

FORWARD = f"""
DROP TRIGGER stock_created ON inventory_stocklevel;
CREATE TRIGGER stock_created BEFORE INSERT ON inventory_stocklevel
    FOR EACH ROW WHEN ({STAMPED}) EXECUTE FUNCTION stamp_changed_in();
"""

BACKWARD = """
DROP TRIGGER stock_created ON inventory_stocklevel;
CREATE TRIGGER stock_created BEFORE INSERT ON inventory_stocklevel
    FOR EACH ROW EXECUTE FUNCTION stamp_changed_in();
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0006_stamp_by_default"), ("inventory", "0004_warehouse_messages")]

    operations = [
        migrations.AlterField(
            "stocklevel",
            "changed_in",
            models.BigIntegerField(
                db_default=Cast(
                    Cast(models.Func(function="pg_current_xact_id"), models.TextField()),
                    models.BigIntegerField(),
                ),
                editable=False,
                help_text="The transaction that last moved it; a trigger sees to it.",
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
