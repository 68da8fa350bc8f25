import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

# A row trigger in PL/pgSQL costs about a tenth of a row of a first import. The default of changed_in is the
# change number already, so the condition of variant_changed spares new rows the call.
VARIANT_TRIGGERS = """
CREATE FUNCTION stamp_changed_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_in := change_number();
    RETURN NEW;
END $$;

CREATE FUNCTION stamp_listed_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.listed_since := clock_timestamp();
    RETURN NEW;
END $$;

CREATE FUNCTION record_departure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO catalog_departure (supplier_id, "group", changed_in, listed_since)
    VALUES (OLD.supplier_id, OLD."group", change_number(), coalesce(OLD.listed_since, OLD.created_at));
    RETURN NULL;
END $$;

CREATE TRIGGER variant_changed BEFORE INSERT OR UPDATE ON catalog_variant
    FOR EACH ROW WHEN (NEW.changed_in IS DISTINCT FROM change_number())
    EXECUTE FUNCTION stamp_changed_in();

CREATE TRIGGER variant_listed_since BEFORE UPDATE OF sku, model, listed ON catalog_variant
    FOR EACH ROW WHEN (OLD.sku <> NEW.sku OR OLD.model <> NEW.model OR (NEW.listed AND NOT OLD.listed))
    EXECUTE FUNCTION stamp_listed_since();

CREATE TRIGGER variant_departed AFTER UPDATE ON catalog_variant
    FOR EACH ROW WHEN (OLD.listed AND (NOT NEW.listed OR OLD."group" <> NEW."group"
        OR OLD.supplier_id <> NEW.supplier_id))
    EXECUTE FUNCTION record_departure();

CREATE TRIGGER variant_deleted AFTER DELETE ON catalog_variant
    FOR EACH ROW WHEN (OLD.listed) EXECUTE FUNCTION record_departure();
"""

DROP_VARIANT_TRIGGERS = """
DROP TRIGGER variant_deleted ON catalog_variant;
DROP TRIGGER variant_departed ON catalog_variant;
DROP TRIGGER variant_listed_since ON catalog_variant;
DROP TRIGGER variant_changed ON catalog_variant;
DROP FUNCTION record_departure();
DROP FUNCTION stamp_listed_since();
DROP FUNCTION stamp_changed_in();
"""


class Migration(migrations.Migration):
    replaces = [("catalog", "0001_squashed_0014_plain_help_texts"), ("catalog", "0015_search_inside_texts")]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("events", "0001_release_1"),
        ("imports", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="Departure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("group", models.CharField(max_length=102)),
                ("changed_in", models.BigIntegerField()),
                (
                    "supplier",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "listed_since",
                    models.DateTimeField(help_text="When the variant had joined the group.", null=True),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(models.F("supplier"), models.F("changed_in"), name="departure_of_supplier")
                ],
            },
        ),
        migrations.CreateModel(
            name="TakenSnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("taken_at", models.DateTimeField(db_index=True)),
                ("snapshot", models.TextField(help_text="change_snapshot(): xmin:xmax:unfinished,…")),
            ],
            options={
                "ordering": ["taken_at"],
                "db_table": "catalog_pulse",
            },
        ),
        migrations.CreateModel(
            name="VariantChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("variant_id", models.BigIntegerField()),
                ("occurred_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "changed",
                    models.JSONField(help_text='By field: {"retail_price": {"from": "5", "to": "6"}}'),
                ),
                ("actor", models.CharField(db_default="", max_length=200)),
                ("request_id", models.CharField(db_default="", max_length=100)),
                ("import_id", models.BigIntegerField(null=True)),
                ("line", models.IntegerField(help_text="The line of the import's file.", null=True)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(models.F("variant_id"), models.F("id"), name="variant_change_of_variant")
                ],
            },
        ),
        migrations.CreateModel(
            name="Variant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sku", models.CharField(max_length=100)),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="Variants of one model form a group.", max_length=100
                    ),
                ),
                ("title", models.CharField(max_length=500)),
                ("description", models.TextField(blank=True)),
                ("description_extra", models.TextField(blank=True)),
                (
                    "description_bullets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, size=None
                    ),
                ),
                ("upc", models.CharField(blank=True, max_length=12)),
                ("ean", models.CharField(blank=True, max_length=13)),
                ("gtin", models.CharField(blank=True, max_length=14)),
                ("id_in_source", models.CharField(blank=True, max_length=100)),
                ("weight", models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ("images", models.TextField(blank=True, help_text="URLs, separated by |")),
                ("retail_price", models.DecimalField(decimal_places=4, max_digits=14)),
                (
                    "wholesale_price",
                    models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True),
                ),
                (
                    "special_sale_price",
                    models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True),
                ),
                ("special_sale_price_start", models.DateTimeField(blank=True, null=True)),
                ("special_sale_price_end", models.DateTimeField(blank=True, null=True)),
                ("options", models.JSONField(blank=True, default=list)),
                ("properties", models.JSONField(blank=True, default=list)),
                (
                    "listed",
                    models.BooleanField(
                        default=True,
                        help_text="Off after the supplier reported the sku as missing; only listed variants are sold.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="variants",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "group",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                model="",
                                then=django.db.models.functions.text.Concat(
                                    models.Value("s:"), models.F("sku")
                                ),
                            ),
                            default=django.db.models.functions.text.Concat(
                                models.Value("m:"), models.F("model")
                            ),
                        ),
                        output_field=models.CharField(max_length=102),
                    ),
                ),
                (
                    "changed_in",
                    models.BigIntegerField(
                        db_default=models.Func(function="change_number"),
                        editable=False,
                        help_text="The number of the last change of this row; set by a trigger.",
                    ),
                ),
                (
                    "listed_since",
                    models.DateTimeField(
                        editable=False,
                        help_text="When it was last listed again or joined its group (a trigger); null: at its creation.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        models.F("upc"), condition=models.Q(("upc", ""), _negated=True), name="variant_upc"
                    ),
                    models.Index(models.F("supplier"), models.F("id"), name="variant_of_supplier"),
                    models.Index(
                        models.F("supplier"),
                        models.F("group"),
                        models.F("id"),
                        condition=models.Q(("listed", True)),
                        name="variant_group_listed",
                    ),
                    django.contrib.postgres.indexes.BrinIndex(
                        models.F("changed_in"),
                        autosummarize=True,
                        name="variant_changed_in",
                        pages_per_range=16,
                    ),
                    models.Index(
                        models.F("ean"), condition=models.Q(("ean", ""), _negated=True), name="variant_ean"
                    ),
                    models.Index(
                        models.F("gtin"), condition=models.Q(("gtin", ""), _negated=True), name="variant_gtin"
                    ),
                    models.Index(
                        models.F("id"), condition=models.Q(("listed", False)), name="variant_delisted"
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower("sku"), "C"
                        ),
                        name="variant_sku_folded",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower(
                                django.db.models.functions.text.Left("title", 60)
                            ),
                            "C",
                        ),
                        name="variant_title_folded",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Collate(
                                django.db.models.functions.text.Lower("sku"), "C"
                            ),
                            name="gin_trgm_ops",
                        ),
                        name="variant_sku_trigrams",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Collate(
                                django.db.models.functions.text.Lower(
                                    django.db.models.functions.text.Left("title", 60)
                                ),
                                "C",
                            ),
                            name="gin_trgm_ops",
                        ),
                        name="variant_title_trigrams",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("supplier"),
                        models.F("sku"),
                        name="variant_sku_once",
                        violation_error_message="The supplier has another variant with this sku.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("sku", ""), _negated=True),
                            ("retail_price__gte", 0),
                            models.Q(("weight", None), ("weight__gte", 0), _connector="OR"),
                        ),
                        name="variant_sane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("wholesale_price", None), ("wholesale_price__gte", 0), _connector="OR"),
                            models.Q(
                                ("special_sale_price", None), ("special_sale_price__gte", 0), _connector="OR"
                            ),
                        ),
                        name="variant_prices_sane",
                    ),
                ],
            },
        ),
        migrations.RunSQL(VARIANT_TRIGGERS, DROP_VARIANT_TRIGGERS),
    ]
