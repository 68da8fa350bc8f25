"""`python -m tools.launcher.prepare`: migrate the database and create the demo, with one start of Django."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django
from django.core.management import call_command

from config.database import exit_without_connection
from config.settings import DATA_DIR, UPLOADS_DIR
from tools.launcher.demo_json import hidden_keys
from tools.launcher.programs import DEMO


def main() -> None:
    """Migrate the database and the upload areas of earlier versions, and create the demo with its keys."""
    django.setup()
    call_command("migrate", interactive=False, verbosity=1)
    if any(path.name.isdigit() for path in UPLOADS_DIR.glob("*/")):
        call_command("adopt_upload_areas")
    if DEMO:
        call_command("demo_data", with_market=DEMO == "market", write_demo_json=hidden_keys(DATA_DIR))


if __name__ == "__main__":
    with exit_without_connection():
        main()
