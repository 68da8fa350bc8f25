"""Copy the parties of returns, so that a party's list of returns has an index.

A trigger writes both columns, so processes of the previous release need not know them.
"""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

TRIGGER = """
CREATE FUNCTION copy_parties_of_return() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT p.supplier_id, p.retailer_id INTO NEW.supplier_id, NEW.retailer_id
    FROM fulfillments_fulfillment f JOIN accounts_partnership p ON p.id = f.partnership_id
    WHERE f.id = NEW.fulfillment_id;
    RETURN NEW;
END $$;

CREATE TRIGGER return_has_parties BEFORE INSERT ON fulfillments_return
    FOR EACH ROW EXECUTE FUNCTION copy_parties_of_return();
"""
NO_TRIGGER = """
DROP TRIGGER return_has_parties ON fulfillments_return;
DROP FUNCTION copy_parties_of_return();
"""
FILL = """
UPDATE fulfillments_return r SET supplier_id = p.supplier_id, retailer_id = p.retailer_id
FROM fulfillments_fulfillment f JOIN accounts_partnership p ON p.id = f.partnership_id
WHERE f.id = r.fulfillment_id AND r.supplier_id IS NULL AND r.id > %s AND r.id <= %s
"""
WINDOW = 10_000


def fill(apps, schema_editor):
    """Fill the rows from before the trigger, window by window, so that no lock lasts long."""
    last = apps.get_model("fulfillments", "Return").objects.aggregate(last=models.Max("id"))["last"] or 0
    with schema_editor.connection.cursor() as cursor:
        for before in range(0, last, WINDOW):
            cursor.execute(FILL, [before, before + WINDOW])


def party(name):
    to = f"accounts.{name}"
    field = models.ForeignKey(
        to,
        django.db.models.deletion.DO_NOTHING,
        null=True,
        editable=False,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    return migrations.AddField("return", name, field)


class Migration(migrations.Migration):
    atomic = False  # an index is built beside writers only outside a transaction

    dependencies = [
        ("accounts", "0004_contact_messages"),
        ("fulfillments", "0004_open_work_by_due_and_amount"),
    ]

    operations = [
        party("supplier"),
        party("retailer"),
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently("return", models.Index("supplier", "id", name="return_to_supplier")),
        AddIndexConcurrently("return", models.Index("retailer", "id", name="return_of_retailer")),
        AddIndexConcurrently(
            "return",
            models.Index("return_id", condition=models.Q(return_id__isnull=False), name="return_by_number"),
        ),
    ]
