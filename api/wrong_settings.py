"""The end of a process with a wrong setting: one sentence that names the setting, instead of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from environs.exceptions import EnvError


@contextmanager
def exit_with_sentence() -> Iterator[None]:
    """Exit with code 2 and the error's message if reading the settings raises an error."""
    try:
        yield
    except (EnvError, ImproperlyConfigured) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


@contextmanager
def named(setting: str) -> Iterator[None]:
    """Add the name of the setting to a ValueError, and raise the result as ImproperlyConfigured."""
    try:
        yield
    except ValueError as error:
        raise ImproperlyConfigured(f"{setting}: {str(error).rstrip('.')}.") from error
