"""Countries and postcodes as people write them."""

from __future__ import annotations

import pytest

from orders.addresses.countries import closest_country, could_be_postcode, country_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("GB", "GB"),
        (" gb ", "GB"),
        ("GBR", "GB"),
        ("UK", "GB"),
        ("Great Britain", "GB"),
        ("USA", "US"),
        ("U.S.A.", "US"),
        ("United States of America", "US"),
        ("Germany", "DE"),
        ("Deutschland", "DE"),
        ("ÖSTERREICH", "AT"),
        ("Espana", "ES"),
        ("the Netherlands", "NL"),
        ("Côte d’Ivoire", "CI"),
        ("South Korea", "KR"),
        ("Republic of Korea", "KR"),
        ("Korea, Republic of", "KR"),
        ("Falkland Islands", "FK"),
        ("US Virgin Islands", "VI"),
        ("Virgin Islands", None),
        ("Bosnia & Herzegovina", "BA"),
        ("Congo", "CG"),
        ("The Democratic Republic of the Congo", "CD"),
        ("St. Lucia", "LC"),
        ("Vatican City", "VA"),
        ("Narnia", None),
        ("XX", None),
        ("", None),
    ],
)
def test_a_country_is_known_by_code_and_by_name(text, code):
    assert country_code(text) == code


def test_a_near_miss_of_a_country_gets_a_suggestion():
    assert closest_country("Germny") == "DE (Germany)"
    assert closest_country("Untied States") == "US (United States)"
    assert closest_country("Narnia") is None


@pytest.mark.parametrize(
    ("postcode", "country", "possible"),
    [
        ("SW1Y 4JH", "GB", True),
        ("sw1y4jh", "GB", True),
        ("12345", "GB", False),
        ("10115", "DE", True),
        ("1011", "DE", False),
        ("1011", "CH", True),
        ("94105-1234", "US", True),
        ("", "HK", True),
        ("anything", "XX", True),
    ],
)
def test_a_postcode_fits_its_country_or_not(postcode, country, possible):
    assert could_be_postcode(postcode, country) is possible
