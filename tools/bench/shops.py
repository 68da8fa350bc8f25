"""A shop's export by a saved mapping, beside a file that says the same in full rows.

The export has a product's texts on its first row only, three variants, a row with a picture alone, and no
skus; the other file has a row for each variant with all of it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.conf import settings

from accounts.models import Supplier
from catalog.models import Variant
from imports.saved_mappings import with_mapping
from tools.bench.database import own_database
from tools.bench.files import WORDS
from tools.bench.imports import run_import
from tools.bench.measuring import ratio
from tools.bench.options import read_options

EXPORT = (
    "Handle,Title,Body (HTML),Vendor,Option1 Name,Option1 Value,Variant Grams,Variant Price,Image Src,Status"
)
PLAIN = "sku,model,title,description,retail_price,weight,images,listed,option,property"
SIZES = ("S", "M", "L")
PLAIN_MAPPING = [{"source": "option", "field": "option", "subtype": "size"}] + [
    {"source": "property", "field": "property", "subtype": "vendor"}
]


def main(arguments: list[str]) -> None:
    options = read_options("shops", arguments, rows=100_000)
    with tempfile.TemporaryDirectory() as folder, own_database():
        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        measure(Path(folder), options.rows)


def measure(folder: Path, rows: int) -> None:
    export, plain = folder / "export.csv", folder / "plain.csv"
    write(export, plain, rows // 4)
    shop, erp = Supplier.objects.create(name="Shop"), Supplier.objects.create(name="Erp")
    mapping = with_mapping(shop, {"mapping": "shopify"}, "products")
    columns: dict[str, object] = {"field_mapping": PLAIN_MAPPING, "math_transformer": ""}
    full = run_import(erp, "products", plain, "full rows, first load", rows * 3 // 4, columns)
    shaped = run_import(shop, "products", export, "export, first load", rows, mapping)
    again = run_import(erp, "products", plain, "full rows, unchanged", rows * 3 // 4, columns)
    same = run_import(shop, "products", export, "export, unchanged", rows, mapping)
    said = ("sku", "title", "description", "images", "weight")
    landed = [set(Variant.objects.filter(supplier=each).values_list(*said)) for each in (shop, erp)]
    if landed[0] != landed[1] or len(landed[0]) != rows // 4 * 3:
        raise SystemExit("The two files have not left the same variants.")
    ratio("export / full rows, first load", shaped, full, 2.0)
    ratio("export / full rows, unchanged", same, again, 3.0)


def write(export: Path, plain: Path, products: int) -> None:
    with export.open("w", encoding="utf-8") as short, plain.open("w", encoding="utf-8") as whole:
        short.write(f"{EXPORT}\n")
        whole.write(f"{PLAIN}\n")
        for number in range(products):
            handle, pictures = (
                f"shirt-{number:07d}",
                [f"https://pics.example/{number}-{k}.jpg" for k in (1, 2)],
            )
            text = f'Shirt {number},"<p>{WORDS} {number}, and {WORDS}</p>"'
            for place, size in enumerate(SIZES):
                first = f"{text},Acme,Size" if not place else ",,,"
                picture = pictures[0] if not place else ""
                status = "active" if not place else ""
                short.write(f"{handle},{first},{size},250,{number % 90 + 10},{picture},{status}\n")
                price, others = f"{number % 90 + 10}", f"{'|'.join(pictures)},true,{size},Acme"
                whole.write(f"{handle}-{size},{handle},{text},{price},0.25,{others}\n")
            short.write(f"{handle},,,,,,,,{pictures[1]},\n")
