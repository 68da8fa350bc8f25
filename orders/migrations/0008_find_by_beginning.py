from django.db import migrations, models


FORWARD = """
CREATE FUNCTION search_entries_of(o orders_order) RETURNS TABLE (text varchar, order_id bigint, kind varchar)
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (1) left(lower(trim(t.text)), 100), o.id, t.kind FROM (
        VALUES (1, 'number', o.retailer_order_id), (2, 'sales order', o.sales_order_number),
            (3, 'number in source', o.id_in_source)
        UNION ALL
        SELECT 4, p.kind, p.text FROM (VALUES (o.shipping_address), (o.billing_address)) a (address),
            LATERAL (VALUES
                ('customer', concat_ws(' ', a.address->>'first_name', a.address->>'last_name')),
                ('customer', a.address->>'last_name'), ('company', a.address->>'company_name'),
                ('e-mail', a.address->>'email')) p (kind, text)
    ) t (place, kind, text)
    WHERE trim(t.text) <> '' ORDER BY 1, t.place
$$;

CREATE FUNCTION keep_search_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orders_searchentry (text, order_id, kind)
    SELECT e.text, e.order_id, e.kind FROM search_entries_of(NEW) e ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER order_found AFTER INSERT OR UPDATE OF
    retailer_order_id, sales_order_number, id_in_source, shipping_address, billing_address
    ON orders_order FOR EACH ROW EXECUTE FUNCTION keep_search_entries();
"""

BACKWARD = """
DROP TRIGGER order_found ON orders_order;
DROP FUNCTION keep_search_entries();
DROP FUNCTION search_entries_of(orders_order);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('orders', '0007_when_short'),
    ]

    operations = [
        migrations.CreateModel(
            name='SearchEntry',
            fields=[
                ('pk', models.CompositePrimaryKey('text', 'order_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('text', models.CharField(db_collation='C', max_length=100)),
                ('order_id', models.BigIntegerField()),
                ('kind', models.CharField(help_text='What the text is, in words.', max_length=20)),
            ],
            options={
                'ordering': ['text', 'order_id'],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
