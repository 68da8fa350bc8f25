from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_operator_notes")]

    operations = [
        migrations.AddField(
            model_name="idempotencykey",
            name="encrypted",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The body shows a secret, which is kept encrypted alone.",
            ),
        ),
    ]
