"""The WSGI entry point, for gunicorn."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.chunked import WithLength

application = WithLength(get_wsgi_application(), most=settings.MAX_BODY_BYTES)
