import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import accounts.models.api_key
import accounts.models.partnership
import accounts.models.party
import accounts.rates

SUSPENSIONS = """
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

CREATE TRIGGER partnership_trades BEFORE INSERT OR UPDATE ON accounts_partnership
    FOR EACH ROW EXECUTE FUNCTION derive_trading();
CREATE TRIGGER suspension_changed AFTER INSERT OR UPDATE ON accounts_suspension
    FOR EACH ROW EXECUTE FUNCTION spread_suspension();
"""

DROP_SUSPENSIONS = """
DROP TRIGGER suspension_changed ON accounts_suspension;
DROP TRIGGER partnership_trades ON accounts_partnership;
DROP FUNCTION spread_suspension();
DROP FUNCTION derive_trading();
"""


class Migration(migrations.Migration):
    replaces = [
        ("accounts", "0001_squashed_0015_leased_work"),
        ("accounts", "0016_partnership_max_units_per_line_and_more"),
        ("accounts", "0017_second_operator"),
        ("accounts", "0018_cancel_before_capture"),
        ("accounts", "0019_contact_email"),
        ("accounts", "0020_currencies"),
        ("accounts", "0021_members"),
        ("accounts", "0022_start_of_final_actions"),
        ("accounts", "0023_find_bulk_actions"),
        ("accounts", "0024_gs1_prefix"),
        ("accounts", "0025_typed_drafts_and_contacts"),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Retailer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "contact_email",
                    models.EmailField(
                        blank=True,
                        db_default="",
                        help_text="Gets a mail when operators change keys or logins of this party.",
                        max_length=254,
                    ),
                ),
                (
                    "currency",
                    models.CharField(
                        db_default="USD",
                        default=accounts.models.party.default_currency,
                        help_text="The code of ISO 4217, such as USD. Amounts are never converted.",
                        max_length=3,
                        validators=[accounts.models.party.validate_currency],
                    ),
                ),
                (
                    "members_need_second_factor",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Members need a second factor to sign in to the portal.",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Supplier",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "priority",
                    models.SmallIntegerField(
                        default=100, help_text="Routing prefers the lower number if plan and cost are equal."
                    ),
                ),
                (
                    "safety_stock",
                    models.PositiveIntegerField(
                        default=0, help_text="Units per variant and warehouse that are kept back from sale."
                    ),
                ),
                (
                    "contact_email",
                    models.EmailField(
                        blank=True,
                        db_default="",
                        help_text="Gets a mail when operators change keys or logins of this party.",
                        max_length=254,
                    ),
                ),
                (
                    "currency",
                    models.CharField(
                        db_default="USD",
                        default=accounts.models.party.default_currency,
                        help_text="The code of ISO 4217, such as USD. Amounts are never converted.",
                        max_length=3,
                        validators=[accounts.models.party.validate_currency],
                    ),
                ),
                (
                    "members_need_second_factor",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Members need a second factor to sign in to the portal.",
                    ),
                ),
                (
                    "gs1_prefix",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The GS1 company prefix: cartons of replenishments get their numbers (SSCC) from it.",
                        max_length=12,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[0-9]{4,12}$", "Enter the 4 to 12 digits of the GS1 company prefix."
                            )
                        ],
                        verbose_name="GS1 prefix",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("party", models.CharField(help_text="Such as supplier:1", max_length=30)),
                ("key", models.CharField(max_length=255)),
                (
                    "request_digest",
                    models.CharField(help_text="A digest of method, path and body.", max_length=64),
                ),
                ("status", models.PositiveSmallIntegerField()),
                ("headers", models.JSONField(default=dict)),
                ("body", models.BinaryField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True),
                ),
                (
                    "encrypted",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The body holds a secret, so it is stored encrypted.",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(models.F("party"), models.F("key"), name="idempotency_key_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="OperatorAction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(help_text="Such as orders.order.", max_length=100)),
                ("action", models.CharField(max_length=50)),
                ("label", models.CharField(max_length=100)),
                ("actor", models.CharField(max_length=200)),
                ("request_id", models.CharField(blank=True, max_length=100)),
                (
                    "chosen_from",
                    models.CharField(
                        blank=True,
                        help_text="The list's filter, if the whole list was chosen.",
                        max_length=2000,
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("answers", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("looked_at", models.DateTimeField(help_text="When every row had been checked.", null=True)),
                ("confirmed_at", models.DateTimeField(null=True)),
                (
                    "stopped_at",
                    models.DateTimeField(help_text="When an operator stopped the remaining rows.", null=True),
                ),
                ("finished_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(db_column="leased_until", editable=False, null=True)),
                (
                    "undoes",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="undone_by",
                        to="accounts.operatoraction",
                    ),
                ),
                (
                    "form_id",
                    models.UUIDField(
                        help_text="The id of the sent form. A form is done only once.", null=True
                    ),
                ),
                ("stopped_by", models.CharField(blank=True, db_default="", max_length=200)),
                ("owner", models.CharField(blank=True, db_default="", editable=False, max_length=100)),
                (
                    "approved_by",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="The second operator, if one was needed.",
                        max_length=200,
                    ),
                ),
                (
                    "requested_at",
                    models.DateTimeField(
                        help_text="When its chooser asked a second operator to approve it.", null=True
                    ),
                ),
                (
                    "starts_at",
                    models.DateTimeField(
                        help_text="Until when a confirmed action waits, so that it can be stopped before its first row.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        models.F("id"), condition=models.Q(("finished_at", None)), name="operator_action_open"
                    ),
                    models.Index(models.F("actor"), models.F("id"), name="operator_action_of_person"),
                    models.Index(
                        models.F("created_at"),
                        models.F("id"),
                        condition=models.Q(("confirmed_at__isnull", False)),
                        name="operator_action_newest",
                    ),
                    models.Index(
                        models.F("request_id"),
                        condition=models.Q(
                            ("confirmed_at__isnull", False),
                            ("total__gt", 1),
                            models.Q(("request_id", ""), _negated=True),
                        ),
                        name="operator_action_bulk",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("form_id__isnull", False)),
                        fields=("form_id",),
                        name="operator_action_form_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OperatorNote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(help_text="Such as orders.order.", max_length=100)),
                ("record_id", models.BigIntegerField()),
                (
                    "assigned_to",
                    models.CharField(blank=True, help_text="The name of a user.", max_length=150),
                ),
                ("text", models.CharField(blank=True, max_length=1000)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("by", models.CharField(max_length=200)),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        models.F("model"),
                        models.F("snoozed_until"),
                        condition=models.Q(("snoozed_until__isnull", False)),
                        name="operator_note_snoozed",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("model"), models.F("record_id"), name="operator_note_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prefix", models.CharField(editable=False, max_length=20, unique=True)),
                ("digest", models.CharField(editable=False, max_length=64)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("fulfillments:read", "Fulfillments Read"),
                                ("fulfillments:write", "Fulfillments Write"),
                                ("catalog:read", "Catalog Read"),
                                ("catalog:write", "Catalog Write"),
                                ("inventory:read", "Inventory Read"),
                                ("inventory:write", "Inventory Write"),
                                ("orders:read", "Orders Read"),
                                ("orders:write", "Orders Write"),
                            ],
                            max_length=30,
                        ),
                        blank=True,
                        help_text="Empty: all scopes of the party's role.",
                        null=True,
                        size=None,
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "allowed_networks",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            max_length=50, validators=[accounts.models.api_key.validate_network]
                        ),
                        blank=True,
                        default=list,
                        help_text="CIDR networks, comma-separated. Empty: any address.",
                        size=None,
                    ),
                ),
                (
                    "rate_limit",
                    models.CharField(
                        blank=True,
                        help_text="Such as 600/min, or off. Empty: the default limit of the service.",
                        max_length=30,
                        validators=[accounts.rates.validate_rate],
                    ),
                ),
                ("last_used_at", models.DateTimeField(editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "retailer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_keys",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_keys",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("retailer__isnull", True), ("supplier__isnull", False)),
                            models.Q(("retailer__isnull", False), ("supplier__isnull", True)),
                            _connector="OR",
                        ),
                        name="api_key_of_one_party",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Partnership",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "retailer_erp_id",
                    models.CharField(
                        blank=True, help_text="The retailer's number in the supplier's ERP.", max_length=100
                    ),
                ),
                (
                    "retailer_shipper_account",
                    models.CharField(
                        blank=True,
                        help_text="The carrier account that the supplier ships on.",
                        max_length=100,
                    ),
                ),
                (
                    "service_types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("ecommerce", "Ecommerce"),
                                ("marketplace", "Marketplace"),
                                ("wholesale", "Wholesale"),
                            ],
                            max_length=20,
                        ),
                        default=accounts.models.partnership.all_service_types,
                        size=None,
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                (
                    "refuse_short_orders",
                    models.BooleanField(
                        default=False,
                        help_text="Refuse an order that stock cannot cover, instead of passing on a part.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "retailer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="partnerships",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="partnerships",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "cancelation_default",
                    models.CharField(
                        choices=[
                            ("wait", "wait for the supplier"),
                            ("approve", "approved"),
                            ("refuse", "refused"),
                        ],
                        default="wait",
                        help_text="The assumed answer to a cancellation after the time to answer.",
                        max_length=10,
                    ),
                ),
                (
                    "hours_to_accept",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Hours from the order until the supplier has accepted it. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "hours_to_answer",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Hours that the supplier has to answer a cancellation. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "hours_to_capture",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Hours from the order until the supplier has captured its fulfillment. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "hours_to_ship",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Hours from the acceptance until all units are shipped. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "strict_addresses",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Refuse orders with an unknown country."
                    ),
                ),
                (
                    "when_short",
                    models.CharField(
                        choices=[
                            ("ship_partial", "pass them on short"),
                            ("wait", "wait for stock"),
                            ("refuse", "refuse the order"),
                        ],
                        db_default="ship_partial",
                        default="ship_partial",
                        help_text="The handling of units that stock cannot cover, unless the order sets it.",
                        max_length=12,
                    ),
                ),
                (
                    "is_trading",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        editable=False,
                        help_text="Active and not suspended. A trigger sets it.",
                    ),
                ),
                (
                    "max_units_per_line",
                    models.PositiveIntegerField(
                        db_default=100000,
                        default=100000,
                        help_text="The largest number of units of one variant in an order.",
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "max_wait_days",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Days that units may wait for stock without a supplier; then they are canceled. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "cancel_before_capture",
                    models.CharField(
                        choices=[("ask", "ask the supplier"), ("at_once", "cancel at once")],
                        db_default="ask",
                        default="ask",
                        help_text="The handling of a cancellation while the supplier has never captured the fulfillment.",
                        max_length=10,
                    ),
                ),
            ],
            options={
                "ordering": ["retailer_id", "supplier_id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("retailer"), models.F("supplier"), name="partnership_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OperatorActionRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("record_id", models.BigIntegerField()),
                ("name", models.CharField(blank=True, max_length=300)),
                (
                    "why_not",
                    models.TextField(help_text="Empty: it can be done. Null: not checked yet.", null=True),
                ),
                ("effect", models.TextField(blank=True)),
                (
                    "result",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("done", "done"),
                            ("unchanged", "already done"),
                            ("refused", "could not be done"),
                        ],
                        max_length=10,
                    ),
                ),
                ("message", models.TextField(blank=True)),
                (
                    "action",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rows",
                        to="accounts.operatoraction",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        models.F("action"),
                        models.F("id"),
                        condition=models.Q(("why_not", None)),
                        name="operator_action_unseen",
                    ),
                    models.Index(
                        models.F("action"),
                        models.F("id"),
                        condition=models.Q(("result", ""), ("why_not", "")),
                        name="operator_action_to_do",
                    ),
                    models.Index(models.F("record_id"), name="operator_action_record"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("result__in", ["", "done", "unchanged", "refused"])),
                        name="operator_action_result",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AccessToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prefix", models.CharField(editable=False, max_length=20, unique=True)),
                ("digest", models.CharField(editable=False, max_length=64)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("fulfillments:read", "Fulfillments Read"),
                                ("fulfillments:write", "Fulfillments Write"),
                                ("catalog:read", "Catalog Read"),
                                ("catalog:write", "Catalog Write"),
                                ("inventory:read", "Inventory Read"),
                                ("inventory:write", "Inventory Write"),
                                ("orders:read", "Orders Read"),
                                ("orders:write", "Orders Write"),
                            ],
                            max_length=30,
                        ),
                        blank=True,
                        help_text="Empty: all scopes of the party's role.",
                        null=True,
                        size=None,
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="accounts.apikey",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Suspension",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reason",
                    models.CharField(help_text="For operators only. Partners do not see it.", max_length=500),
                ),
                (
                    "until",
                    models.DateField(
                        help_text="The first day of trade after the suspension, UTC.", null=True
                    ),
                ),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("started_by", models.CharField(max_length=200)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", models.CharField(blank=True, max_length=200)),
                (
                    "partnership",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="suspensions",
                        to="accounts.partnership",
                    ),
                ),
                (
                    "retailer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="suspensions",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="suspensions",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("partnership", None), ("retailer", None), ("supplier__isnull", False)),
                            models.Q(("partnership", None), ("retailer__isnull", False), ("supplier", None)),
                            models.Q(("partnership__isnull", False), ("retailer", None), ("supplier", None)),
                            _connector="OR",
                        ),
                        name="suspension_of_one",
                    ),
                    models.UniqueConstraint(
                        models.F("supplier"),
                        condition=models.Q(("ended_at", None)),
                        name="suspension_once_of_supplier",
                    ),
                    models.UniqueConstraint(
                        models.F("retailer"),
                        condition=models.Q(("ended_at", None)),
                        name="suspension_once_of_retailer",
                    ),
                    models.UniqueConstraint(
                        models.F("partnership"),
                        condition=models.Q(("ended_at", None)),
                        name="suspension_once_of_partnership",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.EmailField(max_length=150)),
                (
                    "member_role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("orders", "Orders"),
                            ("catalog", "Catalog"),
                            ("developer", "Developer"),
                            ("viewer", "Viewer"),
                        ],
                        max_length=20,
                        verbose_name="role",
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("invited_by", models.CharField(max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "retailer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("retailer__isnull", True), ("supplier__isnull", False)),
                            models.Q(("retailer__isnull", False), ("supplier__isnull", True)),
                            _connector="OR",
                        ),
                        name="invitation_of_one_party",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "member_role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("orders", "Orders"),
                            ("catalog", "Catalog"),
                            ("developer", "Developer"),
                            ("viewer", "Viewer"),
                        ],
                        max_length=20,
                        verbose_name="role",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "retailer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="members",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="members",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("retailer__isnull", True), ("supplier__isnull", False)),
                            models.Q(("retailer__isnull", False), ("supplier__isnull", True)),
                            _connector="OR",
                        ),
                        name="member_of_one_party",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("removed_at", None)),
                        fields=("user", "supplier"),
                        name="member_once_of_supplier",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("removed_at", None)),
                        fields=("user", "retailer"),
                        name="member_once_of_retailer",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Contact",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "job",
                    models.CharField(
                        blank=True,
                        help_text="Such as Warehouse or Accounts.",
                        max_length=100,
                        verbose_name="role",
                    ),
                ),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="mail address")),
                (
                    "telephone",
                    models.CharField(
                        blank=True,
                        max_length=40,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^\\+?[0-9 ()/.-]{3,}$", "Write digits, such as +44 20 7946 0958."
                            )
                        ],
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "retailer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contacts",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contacts",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("retailer__isnull", True), ("supplier__isnull", False)),
                            models.Q(("retailer__isnull", False), ("supplier__isnull", True)),
                            _connector="OR",
                        ),
                        name="contact_of_one_party",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TypedDraft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("path", models.CharField(help_text="The page of the form.", max_length=500)),
                ("fields", models.TextField(help_text="The names and values of the fields, encrypted.")),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="typed_drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(models.F("created_at"), name="typed_draft_created")],
                "constraints": [
                    models.UniqueConstraint(models.F("user"), models.F("path"), name="typed_draft_once")
                ],
            },
        ),
        migrations.RunSQL(SUSPENSIONS, DROP_SUSPENSIONS),
    ]
