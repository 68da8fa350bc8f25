from django.db import migrations


class Migration(migrations.Migration):
    """Leave half of each page of the stock levels free.

    A full stock file updates all levels of a warehouse. If the new version of a row fits into the same page,
    PostgreSQL writes no index. Existing pages get their free space while their rows are updated.
    """

    dependencies = [("inventory", "0001_release_1")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE inventory_stocklevel SET (fillfactor = 50)",
            "ALTER TABLE inventory_stocklevel RESET (fillfactor)",
        )
    ]
