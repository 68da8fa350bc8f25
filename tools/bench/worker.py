"""Runs one job in a process of its own, and prints the most memory that it had, in MiB."""

from __future__ import annotations

import os
import sys

import django

from tools.bench.measuring import peak_mib


def main(job_id: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from imports.tasks import run  # it imports models, which need the setup

    run(job_id)
    print(peak_mib())


if __name__ == "__main__":
    main(int(sys.argv[1]))
