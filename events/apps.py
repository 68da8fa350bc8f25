from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "events"

    def ready(self) -> None:
        # Import here: models cannot be imported before the apps are loaded.
        from api import facts
        from events import epochs
        from events.facts import events, webhooks
        from fastdb.standbys.states import Epochs
        from fastdb.standbys.watching import standbys

        facts.register(events, webhooks, standbys)
        Epochs.register(primary=epochs.OF_PRIMARY, standby=epochs.OF_STANDBY)
