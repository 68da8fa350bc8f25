"""Since when a variant is on the shelf under its name: who left before that is not told of it."""

from django.db import migrations, models

FORWARD = """
CREATE FUNCTION stamp_listed_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.listed_since := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER variant_listed_since BEFORE UPDATE OF sku, model, listed ON catalog_variant
    FOR EACH ROW WHEN (OLD.sku <> NEW.sku OR OLD.model <> NEW.model OR (NEW.listed AND NOT OLD.listed))
    EXECUTE FUNCTION stamp_listed_since();

CREATE OR REPLACE FUNCTION record_departure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO catalog_departure (supplier_id, "group", changed_in, listed_since)
    VALUES (OLD.supplier_id, OLD."group", change_number(), coalesce(OLD.listed_since, OLD.created_at));
    RETURN NULL;
END $$;
"""

BACKWARD = """
CREATE OR REPLACE FUNCTION record_departure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO catalog_departure (supplier_id, "group", changed_in)
    VALUES (OLD.supplier_id, OLD."group", change_number());
    RETURN NULL;
END $$;

DROP TRIGGER variant_listed_since ON catalog_variant;
DROP FUNCTION stamp_listed_since();
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0012_variant_changes")]

    operations = [
        migrations.AddField(
            "variant",
            "listed_since",
            models.DateTimeField(
                editable=False,
                help_text="When it was last listed anew or came into its group (a trigger); null: when made.",
                null=True,
            ),
        ),
        migrations.AddField(
            "departure",
            "listed_since",
            models.DateTimeField(help_text="Since when the variant had been in the group.", null=True),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
