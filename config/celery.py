"""The Celery application: a doorbell. What there is to do stands in the tables."""

import os

from celery import Celery
from celery.signals import heartbeat_sent

from config.heartbeat import note_heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("exchange")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# The sign of life that /readyz looks for.
heartbeat_sent.connect(note_heartbeat, weak=False)
