"""Copy the newest note of each order's fulfillments to the order. The desk reads only the notes of orders."""

from django.db import migrations

# Processes of the previous version still read the copied notes, so they stay.
COPY_NOTES = """
    INSERT INTO accounts_operatornote (model, record_id, assigned_to, text, snoozed_until, "by", updated_at)
    SELECT DISTINCT ON (work.order_id)
           'orders.order', work.order_id,
           note.assigned_to, note.text, note.snoozed_until, note."by", note.updated_at
      FROM accounts_operatornote note
      JOIN fulfillments_fulfillment work ON work.id = note.record_id
     WHERE note.model = 'fulfillments.fulfillment'
     ORDER BY work.order_id, note.updated_at DESC
    ON CONFLICT (model, record_id) DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0003_answers_of_parties"),
        ("accounts", "0007_texts_of_constraints"),
        ("fulfillments", "0005_parties_of_returns"),
    ]

    operations = [migrations.RunSQL(COPY_NOTES, migrations.RunSQL.noop)]
