"""WooCommerce's product export: a row per variable product, and a row per variation.

Column names are in the language of the shop: English, German, French and Spanish are known.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, column, columns, options_named_by

SKU = ["SKU", "Artikelnummer", "UGS"]
PARENT = ["Parent", "Übergeordnetes Produkt", "Übergeordnet", "Parente", "Superior"]
DESCRIPTION = ["Description", "Beschreibung", "Descripción"]
SHORT = ["Short description", "Kurzbeschreibung", "Description courte", "Descripción corta"]
IMAGES = ["Images", "Bilder", "Imágenes"]
WEIGHTS = ["Weight", "Gewicht", "Poids", "Peso"]
# For each unit of weight, the formula that converts a weight to kilograms.
UNITS = {"kg": "", "g": "value / 1000", "lbs": "value * 0.45359237", "oz": "value * 0.028349523"}
# Drafts, and products that wait for a review, are not sold. Older exports put an apostrophe before the minus
# sign, so that no spreadsheet reads a formula.
LISTED = {"-1": "false", "'-1": "false", "2": "false"}
MOST_ATTRIBUTES = 8

SALE = {
    "special_sale_price": ["Sale price", "Angebotspreis", "Tarif promo", "Precio rebajado"],
    "special_sale_price_start": [
        "Date sale price starts",
        "Datum, an dem Angebotspreis beginnt",
        "Date de début de promo",
        "Día en que empieza el precio rebajado",
    ],
    "special_sale_price_end": [
        "Date sale price ends",
        "Datum, an dem Angebotspreis endet",
        "Date de fin de promo",
        "Día en que termina el precio rebajado",
    ],
}


def _attributes() -> list[tuple[str, str]]:
    return [
        (name.format(place), value.format(place))
        for name, value in (
            ("Attribute {} name", "Attribute {} value(s)"),
            ("Attribut {} Name", "Attribut {} Wert(e)"),
            ("Nom de l’attribut {}", "Valeur(s) de l’attribut {}"),
            ("Nombre del atributo {}", "Valor(es) del atributo {}"),
        )
        for place in range(1, MOST_ATTRIBUTES + 1)
    ]


WOOCOMMERCE = ShopExport(
    id=2,
    name="woocommerce",
    title="WooCommerce, products",
    signatures=(
        frozenset({"id", "type", "sku", "name", "regular price", "parent"}),
        frozenset({"id", "typ", "artikelnummer", "name", "regulärer preis"}),
        frozenset({"id", "type", "ugs", "nom", "tarif régulier"}),
        frozenset({"id", "tipo", "sku", "nombre", "precio normal"}),
    ),
    field_mapping=(
        *columns(SKU, "sku"),
        *columns(PARENT, "model"),
        *columns(["Name", "Nom", "Nombre"], "title"),
        *columns(["Regular price", "Regulärer Preis", "Tarif régulier", "Precio normal"], "retail_price"),
        *(entry for target, sources in SALE.items() for entry in columns(sources, target)),
        *columns(DESCRIPTION, "description"),
        *columns(SHORT, "description_extra"),
        *columns(
            [f"GTIN, UPC, EAN, {word} ISBN" for word in ("or", "oder", "ou", "o")]
            + [f"GTIN, UPC, EAN {word} ISBN" for word in ("or", "oder", "ou", "o")],
            "gtin",
        ),
        *columns(IMAGES, "images"),
        *(
            column(f"{weight} ({unit})", "weight", math_transformer=to_kilograms)
            for weight in WEIGHTS
            for unit, to_kilograms in UNITS.items()
        ),
        *columns(["Published", "Veröffentlicht", "Publié", "Publicado"], "listed", values=LISTED),
        *options_named_by(_attributes(), split_by_character=", "),
        column("ID", "id_in_source"),
    ),
    rows={
        "product_fields": [*SKU, "id:{ID}"],
        "parent_fields": PARENT,
        "repeat_fields": [
            *(*DESCRIPTION, *SHORT, *IMAGES),
            *(f"{weight} ({unit})" for weight in WEIGHTS for unit in UNITS),
        ],
        "group_rows": {"field": "Type|Typ|Tipo", "values": ["variable", "grouped"]},
        "sku_template": "woo-{ID}",
    },
)
