from django.db import migrations

PORTION = 10_000
KEEP = """
INSERT INTO orders_searchentry (text, order_id, kind)
SELECT e.text, e.order_id, e.kind FROM orders_order o, search_entries_of(o) e
WHERE o.id > %s AND o.id <= %s ON CONFLICT DO NOTHING
"""


def keep_entries(apps, schema_editor):
    """Of the orders that are there already, in short transactions; those that come in have theirs."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(min(id) - 1, 0), coalesce(max(id), 0) FROM orders_order")
        first, last = cursor.fetchone()
        for after in range(first, last, PORTION):
            cursor.execute(KEEP, [after, after + PORTION])


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("orders", "0008_find_by_beginning")]

    operations = [migrations.RunPython(keep_entries, migrations.RunPython.noop)]
