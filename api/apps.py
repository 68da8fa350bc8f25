from django.apps import AppConfig
from django.urls import register_converter

from api.converters import IdConverter


class ApiConfig(AppConfig):
    name = "api"

    def ready(self) -> None:
        register_converter(IdConverter, "id")
