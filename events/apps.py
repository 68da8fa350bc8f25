from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "events"

    def ready(self) -> None:
        # Import here: models cannot be imported before the apps are loaded.
        from api import facts
        from events.facts import events, webhooks

        facts.register(events, webhooks)
