from django.apps import AppConfig


class AssortmentConfig(AppConfig):
    name = "assortment"
