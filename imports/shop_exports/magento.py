"""The product export of Magento (Adobe Commerce): one row per product and store view.

Pictures are left out: the file has only paths in the shop's media folder, without the shop's URL. Several
attributes are in one cell: `color=Blue,size=M`.
"""

from __future__ import annotations

from imports.shop_exports.export import LEAVE_OUT, ShopExport, column, columns

MAGENTO = ShopExport(
    id=3,
    name="magento",
    title="Magento (Adobe Commerce), products",
    signatures=(frozenset({"sku", "store_view_code", "attribute_set_code", "product_type", "price"}),),
    field_mapping=(
        column("sku", "sku"),
        column("name", "title"),
        column("price", "retail_price"),
        column("special_price", "special_sale_price"),
        column("cost", "wholesale_price"),
        column("description", "description"),
        column("short_description", "description_extra"),
        column("weight", "weight"),
        *columns(["base_image", "additional_images"], "images", relative_urls=LEAVE_OUT),
        # 1 is enabled, 2 is disabled.
        column("product_online", "listed", values={"2": "false"}),
        *(
            column("additional_attributes", target, name_separator="=", split_by_character=",")
            for target in ("option", "property")
        ),
        column("url_key", "id_in_source"),
    ),
    rows={
        # Rows of other store views hold only translated fields.
        "only_rows": {"field": "store_view_code", "values": ["", "all", "admin"]},
        "group_rows": {"field": "product_type", "values": ["configurable", "bundle", "grouped"]},
        "blank_values": ["__EMPTY__VALUE__"],
    },
)
