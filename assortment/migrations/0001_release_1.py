import django.contrib.postgres.fields
from django.db import migrations, models

TERMS_TRIGGERS = """
CREATE FUNCTION record_terms_change() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE FUNCTION record_safety_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO assortment_termschange (supplier_id, retailer_id, changed_in, changed_at, closed)
    VALUES (NEW.id, 0, change_number(), clock_timestamp(), '{}');
    RETURN NULL;
END $$;

CREATE TRIGGER partnership_made_or_ended AFTER INSERT OR DELETE ON accounts_partnership
    FOR EACH ROW EXECUTE FUNCTION record_terms_change();
CREATE TRIGGER partnership_changed AFTER UPDATE ON accounts_partnership
    FOR EACH ROW WHEN (OLD.is_trading <> NEW.is_trading OR OLD.service_types <> NEW.service_types)
    EXECUTE FUNCTION record_terms_change();
CREATE TRIGGER safety_stock_changed AFTER UPDATE ON accounts_supplier
    FOR EACH ROW WHEN (OLD.safety_stock <> NEW.safety_stock)
    EXECUTE FUNCTION record_safety_change();
"""

DROP_TERMS_TRIGGERS = """
DROP TRIGGER safety_stock_changed ON accounts_supplier;
DROP TRIGGER partnership_changed ON accounts_partnership;
DROP TRIGGER partnership_made_or_ended ON accounts_partnership;
DROP FUNCTION record_safety_change();
DROP FUNCTION record_terms_change();
"""

# A pull shows the currency of each group, so all groups of the supplier count as changed.
TRIGGER = """
CREATE TRIGGER currency_changed AFTER UPDATE ON accounts_supplier
    FOR EACH ROW WHEN (OLD.currency <> NEW.currency)
    EXECUTE FUNCTION record_safety_change();
"""


class Migration(migrations.Migration):
    replaces = [
        ("assortment", "0001_squashed_0005_plain_help_texts"),
        ("assortment", "0002_currency_is_a_term"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("catalog", "0001_release_1"),
        ("events", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="TermsChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("supplier_id", models.BigIntegerField()),
                ("retailer_id", models.BigIntegerField()),
                ("changed_in", models.BigIntegerField()),
                ("changed_at", models.DateTimeField()),
                (
                    "closed",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        default=list,
                        help_text="The service types that this change ended.",
                        size=None,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(models.F("changed_in"), name="terms_change_changed_in")],
            },
        ),
        migrations.RunSQL(TERMS_TRIGGERS, DROP_TERMS_TRIGGERS),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER currency_changed ON accounts_supplier"),
    ]
