import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


FORWARD = """
CREATE FUNCTION derive_trading() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.is_trading := NEW.is_active AND NOT EXISTS (
        SELECT FROM accounts_suspension s WHERE s.ended_at IS NULL AND (
            s.partnership_id = NEW.id OR s.supplier_id = NEW.supplier_id OR s.retailer_id = NEW.retailer_id));
    RETURN NEW;
END $$;

CREATE FUNCTION spread_suspension() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounts_partnership p SET is_trading = p.is_trading WHERE p.id = NEW.partnership_id
        OR p.supplier_id = NEW.supplier_id OR p.retailer_id = NEW.retailer_id;
    RETURN NULL;
END $$;

UPDATE accounts_partnership SET is_trading = false WHERE NOT is_active;
CREATE TRIGGER partnership_trades BEFORE INSERT OR UPDATE ON accounts_partnership
    FOR EACH ROW EXECUTE FUNCTION derive_trading();
CREATE TRIGGER suspension_changed AFTER INSERT OR UPDATE ON accounts_suspension
    FOR EACH ROW EXECUTE FUNCTION spread_suspension();
"""

BACKWARD = """
DROP TRIGGER suspension_changed ON accounts_suspension;
DROP TRIGGER partnership_trades ON accounts_partnership;
DROP FUNCTION spread_suspension();
DROP FUNCTION derive_trading();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_operator_actions'),
    ]

    operations = [
        migrations.AddField(
            model_name='partnership',
            name='is_trading',
            field=models.BooleanField(db_default=True, default=True, editable=False, help_text='Active, and nothing of it is suspended; set by a trigger.'),
        ),
        migrations.CreateModel(
            name='Suspension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(help_text='For operators; partners are not given it.', max_length=500)),
                ('until', models.DateField(help_text='The day on which it trades again, UTC.', null=True)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_by', models.CharField(max_length=200)),
                ('ended_at', models.DateTimeField(null=True)),
                ('ended_by', models.CharField(blank=True, max_length=200)),
                ('partnership', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='suspensions', to='accounts.partnership')),
                ('retailer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='suspensions', to='accounts.retailer')),
                ('supplier', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='suspensions', to='accounts.supplier')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('partnership', None), ('retailer', None), ('supplier__isnull', False)), models.Q(('partnership', None), ('retailer__isnull', False), ('supplier', None)), models.Q(('partnership__isnull', False), ('retailer', None), ('supplier', None)), _connector='OR'), name='suspension_of_one'), models.UniqueConstraint(models.F('supplier'), condition=models.Q(('ended_at', None)), name='suspension_once_of_supplier'), models.UniqueConstraint(models.F('retailer'), condition=models.Q(('ended_at', None)), name='suspension_once_of_retailer'), models.UniqueConstraint(models.F('partnership'), condition=models.Q(('ended_at', None)), name='suspension_once_of_partnership')],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
