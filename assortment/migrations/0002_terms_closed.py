import django.contrib.postgres.fields
from django.db import migrations, models

FORWARD = """
CREATE OR REPLACE FUNCTION record_terms_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    terms record;
    open_before text[] := '{}';
    open_after text[] := '{}';
BEGIN
    terms := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    IF TG_OP <> 'INSERT' AND OLD.is_active THEN
        open_before := OLD.service_types;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.is_active THEN
        open_after := NEW.service_types;
    END IF;
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at, closed)
    VALUES (terms.supplier_id, terms.retailer_id, pg_current_xact_id()::text::bigint, clock_timestamp(),
        ARRAY(SELECT unnest(open_before) EXCEPT SELECT unnest(open_after)));
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION record_safety_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at, closed)
    VALUES (NEW.id, 0, pg_current_xact_id()::text::bigint, clock_timestamp(), '{}');
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("assortment", "0001_initial")]

    operations = [
        migrations.AddField(
            "termschange",
            "closed",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20),
                default=list,
                help_text="Service types that this change ended.",
                size=None,
            ),
        ),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
