from django.db import migrations

FORWARD = """
CREATE OR REPLACE FUNCTION record_terms_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    terms record;
    open_before text[] := '{}';
    open_after text[] := '{}';
BEGIN
    terms := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    IF TG_OP <> 'INSERT' AND OLD.is_trading THEN
        open_before := OLD.service_types;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.is_trading THEN
        open_after := NEW.service_types;
    END IF;
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at, closed)
    VALUES (terms.supplier_id, terms.retailer_id, change_number(), clock_timestamp(),
        ARRAY(SELECT unnest(open_before) EXCEPT SELECT unnest(open_after)));
    RETURN NULL;
END $$;

DROP TRIGGER partnership_changed ON accounts_partnership;
CREATE TRIGGER partnership_changed AFTER UPDATE ON accounts_partnership
    FOR EACH ROW WHEN (OLD.is_trading <> NEW.is_trading OR OLD.service_types <> NEW.service_types)
    EXECUTE FUNCTION record_terms_change();
"""

BACKWARD = """
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

DROP TRIGGER partnership_changed ON accounts_partnership;
CREATE TRIGGER partnership_changed AFTER UPDATE ON accounts_partnership
    FOR EACH ROW WHEN (OLD.is_active <> NEW.is_active OR OLD.service_types <> NEW.service_types)
    EXECUTE FUNCTION record_terms_change();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_suspensions"), ("assortment", "0003_change_numbers")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
