"""The WSGI entry point for gunicorn."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application

from api.chunked_bodies import BufferChunkedBody
from api.head_answers import DropBodyOfHead
from api.sizes import most_bytes
from config.database import limit_connections

limit_connections("web")

application = BufferChunkedBody(DropBodyOfHead(get_wsgi_application()), max_bytes=most_bytes)
