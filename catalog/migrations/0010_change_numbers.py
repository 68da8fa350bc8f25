"""Changes are numbered across epochs (events.epochs): by the transaction, and how far the epoch is ahead."""

from django.db import migrations, models

FORWARD = """
CREATE OR REPLACE FUNCTION stamp_changed_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_in := change_number();
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION record_departure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO catalog_departure (supplier_id, "group", changed_in)
    VALUES (OLD.supplier_id, OLD."group", change_number());
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER variant_changed BEFORE INSERT OR UPDATE ON catalog_variant
    FOR EACH ROW WHEN (NEW.changed_in IS DISTINCT FROM change_number())
    EXECUTE FUNCTION stamp_changed_in();
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0009_help_texts"), ("events", "0005_epochs")]

    operations = [
        migrations.AlterField(
            "variant",
            "changed_in",
            models.BigIntegerField(
                db_default=models.Func(function="change_number"),
                editable=False,
                help_text="The change that wrote it last; set by a trigger.",
            ),
        ),
        migrations.AlterField(
            "takensnapshot",
            "snapshot",
            models.TextField(help_text="change_snapshot(): xmin:xmax:unfinished,…"),
        ),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
