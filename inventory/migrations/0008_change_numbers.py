"""As of variants: changes of stock are numbered across epochs."""

from django.db import migrations, models

FORWARD = """
CREATE OR REPLACE TRIGGER stock_created BEFORE INSERT ON inventory_stocklevel
    FOR EACH ROW WHEN (NEW.changed_in IS DISTINCT FROM change_number())
    EXECUTE FUNCTION stamp_changed_in();
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0010_change_numbers"), ("inventory", "0007_stock_movements")]

    operations = [
        migrations.AlterField(
            "stocklevel",
            "changed_in",
            models.BigIntegerField(
                db_default=models.Func(function="change_number"),
                editable=False,
                help_text="The change that moved it last; set by a trigger.",
            ),
        ),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
