from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fulfillments", "0012_plain_help_texts")]

    operations = [
        migrations.AddField(
            model_name="routingsimulation",
            name="owner",
            field=models.CharField(blank=True, db_default="", editable=False, max_length=100),
        ),
        # The field has a new name; the column keeps its name, for processes of the previous version.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="routingsimulation",
                    name="leased_until",
                    field=models.DateTimeField(db_column="leased_until", editable=False, null=True),
                ),
                migrations.RenameField(
                    model_name="routingsimulation", old_name="leased_until", new_name="lease_until"
                ),
            ],
        ),
    ]
