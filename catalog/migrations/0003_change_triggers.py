"""Every write of a variant says in which transaction it was; none that takes one off the shelf is forgotten."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION stamp_changed_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_in := pg_current_xact_id()::text::bigint;
    RETURN NEW;
END $$;

CREATE FUNCTION record_departure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO catalog_departure (supplier_id, "group", changed_in)
    VALUES (OLD.supplier_id, OLD."group", pg_current_xact_id()::text::bigint);
    RETURN NULL;
END $$;

CREATE TRIGGER variant_changed BEFORE INSERT OR UPDATE ON catalog_variant
    FOR EACH ROW EXECUTE FUNCTION stamp_changed_in();

CREATE TRIGGER variant_departed AFTER UPDATE ON catalog_variant
    FOR EACH ROW WHEN (OLD.listed AND (NOT NEW.listed OR OLD."group" <> NEW."group"
        OR OLD.supplier_id <> NEW.supplier_id))
    EXECUTE FUNCTION record_departure();

CREATE TRIGGER variant_deleted AFTER DELETE ON catalog_variant
    FOR EACH ROW WHEN (OLD.listed) EXECUTE FUNCTION record_departure();
"""

BACKWARD = """
DROP TRIGGER variant_deleted ON catalog_variant;
DROP TRIGGER variant_departed ON catalog_variant;
DROP TRIGGER variant_changed ON catalog_variant;
DROP FUNCTION record_departure();
DROP FUNCTION stamp_changed_in();
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_group_key_and_changes")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
