"""The WSGI entry point, for gunicorn."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from api.chunked_bodies import BufferChunkedBody

application = BufferChunkedBody(get_wsgi_application(), max_bytes=settings.MAX_BODY_BYTES)
