"""Supplier files of any size, with the 12 columns of the interface; a row has about 265 bytes."""

from __future__ import annotations

from pathlib import Path

HEADER = (
    "sku,model,retail_price,wholesale_price,title,description,description_extra,upc,ean,id_in_source,"
    "weight,images"
)
WORDS = "soft cotton made to last, washed at thirty degrees and dried in the shade of an old tree"


def with_check_digit(digits: str) -> str:
    weighted = sum(int(digit) * (1 if index % 2 else 3) for index, digit in enumerate(reversed(digits)))
    return f"{digits}{-weighted % 10}"


def product_row(number: int, *, price: int = 0) -> str:
    cents = number * 7919 % 100_000 + 100 + price
    prices = f"{cents // 100}.{cents % 100:02d},{cents // 2 // 100}.{cents // 2 % 100:02d}"
    return (
        f"SKU-{number:08d},MODEL-{number // 4:07d},{prices},"
        f'"Shirt no. {number}, red","{WORDS} {number}",{WORDS[:20]},'
        f"{with_check_digit(f'{number:011d}')},{with_check_digit(f'40{number:010d}')},{number},0.25,"
        f"https://images.example.com/{number:08d}.jpg"
    )


def write_products(path: Path, rows: int, *, changed_every: int = 0) -> None:
    """Write a product file. With `changed_every=100`, every hundredth row has another price."""
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{HEADER}\n")
        for number in range(1, rows + 1):
            changed = changed_every and number % changed_every == 0
            file.write(f"{product_row(number, price=100 if changed else 0)}\n")


def write_stock(path: Path, rows: int, *, add: int = 0) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("sku,quantity\n")
        for number in range(1, rows + 1):
            file.write(f"SKU-{number:08d},{number % 500 + add}\n")
