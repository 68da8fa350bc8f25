"""Three product files of the demo's market: with rejected rows, with a doubtful price, without a header."""

from __future__ import annotations

from accounts.actors import Actor, ActorKind
from accounts.models import Supplier
from catalog.importing.bodies import ImportProductsBody
from catalog.importing.kind import PRODUCTS
from imports import job_files
from imports.models import ImportPolicy
from imports.services import start_import

SHOPIFY = (
    "Handle,Title,Body (HTML),Variant SKU,Variant Price,Variant Barcode,Image Src",
    "linen-cushion,Linen cushion,<p>Washed linen.</p>,NH-1024,36.00,,",
    "linen-cushion,,,NH-1025,36.00,,",
    "wool-throw,Wool throw,<p>Woven in Jutland.</p>,NH-1031,79.00,036000291453,",
    "bench,Oak bench,<p>For two.</p>,NH-1050,ask us,,",
    "stool,Oak stool,<p>Stackable.</p>,NH-1051,98.00,,",
)
# The knife costs 96.00, but the file lacks the decimal point.
DOUBTFUL = ("sku,title,retail_price", "HK-200,Chef's knife 20 cm,9600", "HK-204,Bread knife 24 cm,82.00")
WITHOUT_HEADER = ("BB-MUG-01;Stoneware mug;22,00", "BB-MUG-02;Stoneware mug;22,00")

PRICE_FACTOR = 3
"""Harvest Kitchen's files wait for approval if they change a price by more than this factor."""


def create() -> None:
    """Create the import jobs. The workers process them as soon as the service runs."""
    careful = Supplier.objects.get(name="Harvest Kitchen")
    ImportPolicy.objects.create(supplier=careful, price_factor=PRICE_FACTOR)
    _start("Nordic Home", SHOPIFY, mapping="shopify")
    _start("Harvest Kitchen", DOUBTFUL)
    _start("Bluebird Ceramics", WITHOUT_HEADER)


def _start(supplier_name: str, lines: tuple[str, ...], **mapping: str) -> None:
    supplier = Supplier.objects.get(name=supplier_name)
    body = ImportProductsBody(data={"data": list(lines), **mapping})
    body.is_valid(raise_exception=True)
    start_import(
        supplier,
        PRODUCTS.name,
        source="data",
        blob=job_files.keep_lines(supplier, lines),
        options=PRODUCTS.with_mapping(supplier, PRODUCTS.checked_options(supplier, body)),
        by=Actor(ActorKind.SUPPLIER, f"system:demo ({supplier})"),
    )
