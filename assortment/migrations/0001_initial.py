from django.db import migrations, models

FORWARD = """
CREATE FUNCTION record_terms_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    terms record;
BEGIN
    terms := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at)
    VALUES (terms.supplier_id, terms.retailer_id, pg_current_xact_id()::text::bigint, clock_timestamp());
    RETURN NULL;
END $$;

CREATE FUNCTION record_safety_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at)
    VALUES (NEW.id, 0, pg_current_xact_id()::text::bigint, clock_timestamp());
    RETURN NULL;
END $$;

CREATE TRIGGER partnership_made_or_ended AFTER INSERT OR DELETE ON accounts_partnership
    FOR EACH ROW EXECUTE FUNCTION record_terms_change();
CREATE TRIGGER partnership_changed AFTER UPDATE ON accounts_partnership
    FOR EACH ROW WHEN (OLD.is_active <> NEW.is_active OR OLD.service_types <> NEW.service_types)
    EXECUTE FUNCTION record_terms_change();
CREATE TRIGGER safety_stock_changed AFTER UPDATE ON accounts_supplier
    FOR EACH ROW WHEN (OLD.safety_stock <> NEW.safety_stock)
    EXECUTE FUNCTION record_safety_change();
"""

BACKWARD = """
DROP TRIGGER safety_stock_changed ON accounts_supplier;
DROP TRIGGER partnership_changed ON accounts_partnership;
DROP TRIGGER partnership_made_or_ended ON accounts_partnership;
DROP FUNCTION record_safety_change();
DROP FUNCTION record_terms_change();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [("accounts", "0001_initial"), ("catalog", "0003_change_triggers")]

    operations = [
        migrations.CreateModel(
            "TermsChange",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")),
                ("supplier_id", models.BigIntegerField()),
                ("retailer_id", models.BigIntegerField()),
                ("changed_in", models.BigIntegerField()),
                ("changed_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index("changed_in", name="terms_change_changed_in")],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
