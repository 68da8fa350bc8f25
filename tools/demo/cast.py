"""The parties of the demo: two suppliers with stock, two retailers, and an operator (contract 11)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils.text import slugify

from accounts.actors import Actor
from accounts.member_roles import MemberRole
from accounts.models import Member, Partnership, Retailer, Supplier
from backoffice.groups import OPERATORS
from catalog.models import Variant
from inventory.models import StockLevel, Warehouse
from portal.team.services import add
from sftp_ingest.models import SftpLogin

OPERATOR = "operator"

# name, priority, warehouses (the first warehouse is the default)
SUPPLIERS = (
    ("Acme", 10, ("Acme East", "Acme West")),
    ("Rival", 20, ("Rival North", "Rival South")),
)
# name, its partners
RETAILERS = (("Shop", ("Acme", "Rival")), ("Boutique", ("Rival",)))


@dataclass(frozen=True)
class Product:
    """A variant of the demo, with its stock per warehouse in the order of SUPPLIERS."""

    supplier: str
    sku: str
    title: str
    upc: str
    retail: str
    wholesale: str
    stock: tuple[int, int]
    model: str = ""
    extra: str = ""


# Both suppliers sell the lantern and the blanket, so that routing has a choice.
PRODUCTS = (
    Product("Acme", "LAN-01", "Camping lantern", "036000291452", "39.90", "21.50", (40, 15)),
    Product("Acme", "BLK-GRY", "Wool blanket, grey", "042100005264", "89.00", "48.00", (25, 0), "BLANKET"),
    Product("Acme", "BLK-RED", "Wool blanket, red", "012345678905", "89.00", "48.00", (12, 30), "BLANKET"),
    Product("Acme", "KET-1L", "Enamel kettle, 1 l", "", "44.50", "24.00", (60, 60), extra="Holds 1 l"),
    Product("Rival", "R-LANTERN", "Lantern for camping", "036000291452", "42.00", "20.90", (8, 20)),
    Product("Rival", "R-BLANKET-G", "Blanket, grey wool", "042100005264", "92.00", "51.00", (10, 10)),
    Product("Rival", "R-STOVE", "Gas stove, two flames", "725272730706", "119.00", "70.00", (6, 4)),
)


@transaction.atomic
def create() -> None:
    """Create the missing records; leave existing records unchanged."""
    for name, priority, warehouses in SUPPLIERS:
        _supplier(name, priority, warehouses)
    for name, partners in RETAILERS:
        _retailer(name, partners)
    for product in PRODUCTS:
        _product(product)
    _operator()
    for party in parties():
        owner(party)


def suppliers() -> list[Supplier]:
    """Return the demo's suppliers, in the order of SUPPLIERS."""
    return [Supplier.objects.get(name=name) for name, *_ in SUPPLIERS]


def retailers() -> list[Retailer]:
    """Return the demo's retailers, in the order of RETAILERS."""
    return [Retailer.objects.get(name=name) for name, _ in RETAILERS]


def parties() -> list[Supplier | Retailer]:
    return [*suppliers(), *retailers()]


def _supplier(name: str, priority: int, warehouses: tuple[str, ...]) -> None:
    supplier, _ = Supplier.objects.get_or_create(name=name, defaults={"priority": priority})
    has_default = supplier.warehouses.filter(is_default=True).exists()
    for place in warehouses:
        default = place == warehouses[0] and not has_default
        Warehouse.objects.get_or_create(supplier=supplier, name=place, defaults={"is_default": default})
    SftpLogin.objects.get_or_create(supplier=supplier, defaults={"username": name.lower()})


def _retailer(name: str, partners: tuple[str, ...]) -> None:
    retailer, _ = Retailer.objects.get_or_create(name=name)
    for supplier in Supplier.objects.filter(name__in=partners):
        Partnership.objects.get_or_create(
            retailer=retailer,
            supplier=supplier,
            defaults={
                "retailer_erp_id": f"{supplier.name[:3].upper()}-{10_000 + retailer.pk}",
                "retailer_shipper_account": f"UPS-{name.upper()}",
            },
        )


def _product(product: Product) -> None:
    supplier = Supplier.objects.get(name=product.supplier)
    variant, made = Variant.objects.get_or_create(
        supplier=supplier,
        sku=product.sku,
        defaults={
            "title": product.title,
            "upc": product.upc,
            "model": product.model,
            "retail_price": Decimal(product.retail),
            "wholesale_price": Decimal(product.wholesale),
            "description": f"{product.title}, as {product.supplier} sells it.",
            "description_extra": product.extra,
        },
    )
    if not made:
        return
    places = Warehouse.objects.filter(supplier=supplier).order_by("id")[: len(product.stock)]
    for warehouse, on_hand in zip(places, product.stock, strict=True):
        level = StockLevel(variant=variant, warehouse=warehouse)
        level.open(on_hand, by=Actor.system("demo"))


def owner(party: Supplier | Retailer) -> Member:
    """Return the owner of a party of the demo. Create the owner if the party has none."""
    email = f"owner@{slugify(party.name)}.example"
    user, _ = User.objects.get_or_create(
        username=email, defaults={"email": email, "first_name": f"{party.name} owner"}
    )
    return add(party, user, MemberRole.OWNER)


def _operator() -> None:
    user, made = User.objects.get_or_create(username=OPERATOR, defaults={"is_staff": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    user.groups.add(Group.objects.get(name=OPERATORS))
