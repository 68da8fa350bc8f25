"""Entity tags: a client with the newest version of an object gets 304, and changes can be conditional."""

from __future__ import annotations

from unittest import mock

import pytest
from django.urls import get_resolver

from accounts.viewsets import KeyViewSet
from fulfillments.models import Fulfillment
from imports.models import SavedMapping
from imports.views.mappings import MappingViewSet
from tests.factories import ImportJobFactory, SavedMappingFactory
from tests.orders.push_bodies import an_order


@pytest.fixture
def variant(acme, a_variant):
    return a_variant(acme, "A-1", description="Long. " * 300)


@pytest.fixture
def client(acme, client_for):
    return client_for(acme)


def test_an_object_has_a_tag_that_answers_304_until_it_changes(client, variant):
    path = f"variants/{variant.pk}"
    tag = client.get(path).headers["ETag"]

    held = client.get(path, If_None_Match=tag)
    assert (held.status_code, held.content, held.headers["ETag"]) == (304, b"", tag)
    assert "RateLimit-Remaining" in held.headers
    assert "X-Request-Id" in held.headers
    assert "Content-Type" not in held.headers

    client.request("PATCH", path, {"title": "Another"})
    fresh = client.get(path, If_None_Match=tag)
    assert (fresh.status_code, fresh.json()["title"]) == (200, "Another")
    assert fresh.headers["ETag"] != tag


@pytest.mark.parametrize("header", ["*", '"other", {tag}', "{plain}"])
def test_if_none_match_follows_the_rfc(client, variant, header):
    tag = client.get(f"variants/{variant.pk}").headers["ETag"]
    asked = header.format(tag=tag, plain=tag.removeprefix("W/"))
    assert client.get(f"variants/{variant.pk}", If_None_Match=asked).status_code == 304


@pytest.mark.parametrize("header", ["", '"other"', "nonsense", "W/"])
def test_another_tag_gets_the_whole_object(client, variant, header):
    assert client.get(f"variants/{variant.pk}", If_None_Match=header).status_code == 200


def test_the_tag_is_the_same_compressed_and_for_head(client, variant):
    path = f"variants/{variant.pk}"
    tags = {
        client.get(path).headers["ETag"],
        client.get(path, Accept_Encoding="gzip").headers["ETag"],
        client.request("HEAD", path).headers["ETag"],
    }
    assert len(tags) == 1


def test_an_answer_with_selected_fields_has_a_tag_of_its_own(client, variant):
    tag = client.get(f"variants/{variant.pk}").headers["ETag"]
    assert client.get(f"variants/{variant.pk}?fields=id", If_None_Match=tag).json() == {"id": variant.pk}


def test_only_single_objects_have_tags(acme, client):
    job = ImportJobFactory.create(supplier=acme)
    assert "ETag" in client.get(f"imports/{job.pk}").headers
    assert "ETag" in client.get("").headers
    for path in ("imports", "variants", "variants/0"):
        assert "ETag" not in client.get(path).headers


def test_a_tag_does_not_reveal_a_forbidden_object(rival, client, client_for, variant):
    tag = client.get(f"variants/{variant.pk}").headers["ETag"]
    stranger = client_for(rival)
    assert stranger.get(f"/v3/variants/{variant.pk}", If_None_Match=tag).status_code == 404
    assert stranger.get(f"/v3/variants/{variant.pk}", If_None_Match="*").status_code == 404


def test_a_conditional_change_never_overwrites_another_change(client, variant):
    path = f"variants/{variant.pk}"
    tag = client.get(path).headers["ETag"]

    done = client.request("PATCH", path, {"title": "First"}, If_Match=tag)
    late = client.request("PATCH", path, {"title": "Second"}, If_Match=tag)

    assert done.status_code == 200
    assert (late.status_code, late.json()["code"], late.json()["success"]) == (
        412,
        "precondition_failed",
        False,
    )
    assert client.get(path).json()["title"] == "First"
    assert client.request("PATCH", path, b"{", If_Match=tag).json()["code"] == "invalid_json"


@pytest.mark.parametrize(
    ("header", "status"), [("*", 200), ('"other", {tag}', 200), ("", 200), ("none", 412)]
)
def test_if_match_follows_the_rfc(client, variant, header, status):
    tag = client.get(f"variants/{variant.pk}").headers["ETag"]
    answer = client.request(
        "PATCH", f"variants/{variant.pk}", {"title": "New"}, If_Match=header.format(tag=tag)
    )
    assert answer.status_code == status


def test_a_status_is_set_only_on_the_known_version_of_the_fulfillment(
    client, shop, client_for, a_variant, acme
):
    a_variant(acme, "A-1", stock=5)
    client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 2}))
    path = f"fulfillments/{Fulfillment.objects.get().pk}"
    tag = client.get(path).headers["ETag"]
    client.put(path, {"invoice_id": "I-1"})

    late = client.put(f"{path}/setStatus/out_of_stock", If_Match=tag)
    known = client.put(f"{path}/setStatus/accepted", If_Match=client.get(path).headers["ETag"])

    assert (late.status_code, known.status_code, known.json()["code"]) == (412, 200, "accepted")


def test_every_change_accepts_a_condition(client):
    webhook = client.post("webhooks", {"url": "https://hooks.example/in"}).json()["id"]
    mapping = client.post("mappings", {"name": "erp", "field_mapping": ["Name:title"]}).json()["id"]
    changes = {
        f"webhooks/{webhook}": ("PATCH", {"active": False}),
        f"mappings/{mapping}": ("PUT", {"name": "erp", "field_mapping": ["Title:title"]}),
        "importPolicy": ("PUT", {"zeroed_least": 5}),
        "autoImports/products": ("PUT", {"mapping": "erp"}),
    }
    for path, (method, body) in changes.items():
        tag = client.get(path).headers["ETag"]
        assert client.request(method, path, body, If_Match='"old"').status_code == 412, path
        assert client.get(path).headers["ETag"] == tag
        assert client.request(method, path, body, If_Match=tag).status_code == 200, path
    assert client.request("DELETE", f"webhooks/{webhook}", If_Match='"old"').status_code == 412


def test_every_view_that_changes_an_object_can_lock_it_for_a_condition():
    changing = {
        view.cls
        for view in views(get_resolver().url_patterns)
        if issubclass(view.cls, KeyViewSet) and {"put", "patch", "delete"} & view.actions.keys()
    }
    assert len(changing) > 5
    assert [each for each in changing if each.lock is KeyViewSet.lock or not hasattr(each, "retrieve")] == []


def views(patterns):
    for each in patterns:
        if hasattr(each, "url_patterns"):
            yield from views(each.url_patterns)
        elif getattr(each.callback, "actions", None):
            yield each.callback


def test_an_object_removed_at_the_start_of_a_change_is_not_found(acme, client):
    saved = SavedMappingFactory.create(supplier=acme)
    begin = MappingViewSet.handler

    def begin_late(view):
        SavedMapping.objects.all().delete()
        return begin(view)

    with mock.patch.object(MappingViewSet, "handler", begin_late):
        answer = client.request("DELETE", f"mappings/{saved.pk}", If_Match="*")
    assert answer.status_code == 404


WEBHOOK = {"url": "https://shop.example/hook"}


@pytest.mark.parametrize(
    ("method", "path", "body", "read"),
    [
        ("POST", "variants", {"sku": "B-2", "title": "Lamp", "retail_price": 1}, "variants/{id}"),
        ("PATCH", "variants/{variant}", {"title": "Lamp"}, "variants/{id}"),
        ("PUT", "variants/{variant}", {"sku": "A-1", "title": "B", "retail_price": 1}, "variants/{id}"),
        ("POST", "webhooks", WEBHOOK, "webhooks/{id}"),
        ("POST", "mappings", {"name": "mine", "field_mapping": ["Name:title"]}, "mappings/{id}"),
        ("PUT", "autoImports/products", {"field_mapping": ["Name:title"]}, "autoImports/products"),
    ],
)
def test_the_answer_to_a_change_has_the_tag_of_the_next_read(client, variant, method, path, body, read):
    answer = client.request(method, path.format(variant=variant.pk), body)
    assert answer.status_code in (200, 201), answer.content

    tag = client.get(read.format(id=answer.json().get("id"))).headers["ETag"]
    assert answer.headers["ETag"] == tag


def test_a_second_conditional_change_needs_no_read_after_the_first(client, variant):
    path = f"variants/{variant.pk}"
    first = client.request("PATCH", path, {"title": "One"})
    second = client.request("PATCH", path, {"title": "Two"}, If_Match=first.headers["ETag"])

    assert second.status_code == 200
    assert client.request("PATCH", path, {"title": "X"}, If_Match=first.headers["ETag"]).status_code == 412


def test_a_result_envelope_has_no_tag(client, variant, acme):
    assert "ETag" not in client.post("importProducts", {"data": ["sku", "A-1"]}).headers
