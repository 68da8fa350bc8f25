#!/usr/bin/env python
"""Run a management command of the Exchange."""

import os
import sys

from django.core.management import execute_from_command_line

from config.database import exit_without_connection

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    with exit_without_connection():
        execute_from_command_line(sys.argv)
