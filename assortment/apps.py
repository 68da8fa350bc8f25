from django.apps import AppConfig

from events import epochs


class AssortmentConfig(AppConfig):
    name = "assortment"

    def ready(self) -> None:
        epochs.register(stamped=("assortment_termschange",))
