"""Runs one import job in its own process and prints the peak of its memory, in MiB."""

from __future__ import annotations

import os
import sys

import django

from tools.bench.measuring import peak_mib


def main(job_id: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from imports.tasks import run  # after the setup, because it imports models

    run(job_id)
    print(peak_mib())


if __name__ == "__main__":
    main(int(sys.argv[1]))
