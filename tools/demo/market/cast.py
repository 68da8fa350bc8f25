"""The parties, goods and consumers of the demo's market. All names are invented."""

from __future__ import annotations

from typing import NamedTuple


class MarketSupplier(NamedTuple):
    """A supplier of the market: its usual hours to accept and to ship, and its goods."""

    name: str
    warehouses: tuple[str, ...]
    to_accept: float
    to_ship: float
    goods: tuple[tuple[str, str, str], ...]


# name; warehouses; hours to accept and to ship; goods: sku, title, retail price
SUPPLIERS = (
    MarketSupplier(
        "Nordic Home",
        ("Aarhus", "Newark"),
        2,
        14,
        (
            ("NH-1001", "Oak dining chair, natural", "149.00"),
            ("NH-1002", "Oak dining chair, black", "149.00"),
            ("NH-1010", "Round side table, 45 cm", "89.00"),
            ("NH-1024", "Linen cushion, sand", "34.00"),
            ("NH-1025", "Linen cushion, forest", "34.00"),
            ("NH-1031", "Wool throw, grey stripe", "79.00"),
            ("NH-1040", "Wall shelf with brass brackets", "64.50"),
        ),
    ),
    MarketSupplier(
        "Alpine Outfitters",
        ("Denver", "Salt Lake City"),
        4,
        22,
        (
            ("AO-JKT-S", "Rain jacket Ridge, small", "129.00"),
            ("AO-JKT-M", "Rain jacket Ridge, medium", "129.00"),
            ("AO-JKT-L", "Rain jacket Ridge, large", "129.00"),
            ("AO-PCK-28", "Day pack Summit, 28 litres", "94.00"),
            ("AO-BTL-1", "Steel bottle, 1 litre", "27.50"),
            ("AO-LMP-2", "Head torch, 400 lumens", "45.00"),
            ("AO-TNT-2", "Two-person tent Larch", "289.00"),
        ),
    ),
    MarketSupplier(
        "Bluebird Ceramics",
        ("Asheville", "Knoxville"),
        7,
        36,
        (
            ("BB-MUG-01", "Stoneware mug, speckled", "22.00"),
            ("BB-MUG-02", "Stoneware mug, midnight", "22.00"),
            ("BB-BWL-04", "Pasta bowl, set of four", "88.00"),
            ("BB-PLT-06", "Dinner plate, set of six", "126.00"),
            ("BB-VAS-01", "Tall vase, celadon", "58.00"),
        ),
    ),
    MarketSupplier(
        "Harvest Kitchen",
        ("Portland", "Columbus"),
        1,
        9,
        (
            ("HK-200", "Chef's knife, 20 cm", "96.00"),
            ("HK-204", "Bread knife, 24 cm", "82.00"),
            ("HK-310", "Cast iron pan, 28 cm", "54.00"),
            ("HK-311", "Cast iron pan, 20 cm", "38.00"),
            ("HK-420", "Walnut cutting board", "72.00"),
            ("HK-515", "Pour-over kettle, 1 litre", "61.00"),
            ("HK-601", "Tea towels, set of three", "24.00"),
        ),
    ),
    MarketSupplier(
        "Lumen Lighting",
        ("Chicago", "Reno"),
        5,
        30,
        (
            ("LL-D100", "Desk lamp Arc, white", "118.00"),
            ("LL-D101", "Desk lamp Arc, graphite", "118.00"),
            ("LL-F220", "Floor lamp Reed", "239.00"),
            ("LL-P015", "Paper pendant, 50 cm", "69.00"),
            ("LL-B004", "Filament bulb, pack of four", "32.00"),
        ),
    ),
    MarketSupplier(
        "Little Fern Toys",
        ("Burlington", "Albany"),
        16,
        60,
        (
            ("LF-BLK-50", "Wooden blocks, 50 pieces", "46.00"),
            ("LF-TRN-01", "Wooden train with track", "64.00"),
            ("LF-PZL-24", "Forest puzzle, 24 pieces", "19.00"),
            ("LF-DOL-03", "Rag doll Juniper", "38.00"),
            ("LF-KIT-02", "Play kitchen set", "112.00"),
        ),
    ),
)

# name; the start of its order numbers
RETAILERS = (("Hearth & Field", "HF"), ("Corner & Co", "CC"))

FIRST_NAMES = (
    *("Amelia", "Ben", "Carla", "Daniel", "Elif", "Farah", "Gabriel", "Hannah", "Imani", "Jonas"),
    *("Keiko", "Liam", "Maya", "Noah", "Olga", "Priya", "Quentin", "Rosa", "Samuel", "Tara"),
)
LAST_NAMES = (
    *("Abbott", "Becker", "Castillo", "Dubois", "Eriksen", "Fischer", "Garcia", "Huang", "Ivanova"),
    *("Jackson", "Kowalski", "Lindqvist", "Mensah", "Novak", "Okafor", "Patel", "Reyes", "Schmidt"),
)
STREETS = ("Maple Avenue", "Mill Road", "Harbor Street", "Orchard Lane", "Cedar Court", "Union Street")

# city, state, zip code
CITIES = (
    ("Portland", "ME", "04101"),
    ("Ithaca", "NY", "14850"),
    ("Asheville", "NC", "28801"),
    ("Madison", "WI", "53703"),
    ("Boulder", "CO", "80302"),
    ("Savannah", "GA", "31401"),
    ("Santa Fe", "NM", "87501"),
    ("Eugene", "OR", "97401"),
    ("Providence", "RI", "02903"),
    ("Duluth", "MN", "55802"),
)
