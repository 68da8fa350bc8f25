"""The form of a variant checks and reads its values as the API does."""

from __future__ import annotations

import pytest

from catalog.models import Variant

pytestmark = pytest.mark.django_db


def errors(answer):
    return answer.context["adminform"].form.errors


def test_bullets_with_commas_stay_whole_if_another_field_changes(save, lantern):
    lantern.description_bullets = ["Soft, warm", "Red"]
    lantern.save()

    assert save()(title="Lamp").status_code == 302

    lantern.refresh_from_db()
    assert (lantern.title, lantern.description_bullets) == ("Lamp", ["Soft, warm", "Red"])


def test_each_line_of_the_bullets_field_is_a_bullet(save, lantern):
    assert save()(description_bullets="Soft, warm\r\n\r\n Red ").status_code == 302

    lantern.refresh_from_db()
    assert lantern.description_bullets == ["Soft, warm", "Red"]


def test_pictures_are_split_at_commas_and_line_breaks(save, lantern):
    assert save()(images="http://a.test/1.jpg, http://a.test/2.jpg\r\nhttp://a.test/3.jpg").status_code == 302

    lantern.refresh_from_db()
    assert lantern.images == "http://a.test/1.jpg|http://a.test/2.jpg|http://a.test/3.jpg"


def test_options_are_stored_as_the_api_stores_them(save, lantern):
    given = '[{"type": "color", "value": " Red "}]'

    assert save()(options=given, properties='[{"type": "Fabric", "value": "Wool"}]').status_code == 302

    lantern.refresh_from_db()
    assert lantern.options == [{"type": "color", "value": "Red"}]
    assert lantern.properties == [{"name": "Fabric", "value": "Wool"}]


def test_emptied_options_are_no_options(save, lantern):
    lantern.options = [{"type": "color", "value": "Red"}]
    lantern.save()

    assert save()(options="").status_code == 302

    lantern.refresh_from_db()
    assert lantern.options == []


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("images", "nonsense", "nonsense is not a URL such as https://example.com/1.jpg."),
        ("options", '{"a": 1}', "Must be an array."),
        ("options", '[{"type": "taste", "value": "x"}]', "options[0].type: "),
        ("properties", '"x"', "Must be an array."),
        ("title", "a\u0007b", "control"),
    ],
)
def test_a_value_that_the_api_refuses_is_refused_at_its_field(save, lantern, field, given, message):
    answer = save()(**{field: given})

    assert answer.status_code == 200
    assert message in errors(answer)[field][0]
    assert Variant.objects.get().updated_at == lantern.updated_at


def test_a_sale_that_ends_before_it_starts_is_refused(save, lantern):
    send = save()

    answer = send(special_sale_price_start="2026-05-01T00:00", special_sale_price_end="2026-04-01T00:00")

    assert errors(answer)["special_sale_price_end"] == ["Must not be before its start."]
