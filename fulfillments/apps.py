from django.apps import AppConfig


class FulfillmentsConfig(AppConfig):
    name = "fulfillments"
