"""As of variants: changes of terms are numbered across epochs."""

from django.db import migrations

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
    VALUES (terms.supplier_id, terms.retailer_id, change_number(), clock_timestamp(),
        ARRAY(SELECT unnest(open_before) EXCEPT SELECT unnest(open_after)));
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION record_safety_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at, closed)
    VALUES (NEW.id, 0, change_number(), clock_timestamp(), '{}');
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("assortment", "0002_terms_closed"), ("catalog", "0010_change_numbers")]

    operations = [migrations.RunSQL(FORWARD, migrations.RunSQL.noop)]
