"""A worker that runs one bulk action of an operator and prints its seconds."""

from __future__ import annotations

import sys
import time

import django


def main(action_id: int) -> None:
    django.setup()
    # After the setup, because they import models.
    from accounts.models import OperatorAction
    from accounts.tasks import run_operator_action

    began = time.perf_counter()
    while OperatorAction.objects.filter(pk=action_id, finished_at=None).exists():
        run_operator_action(action_id)
    print(time.perf_counter() - began)


if __name__ == "__main__":
    main(int(sys.argv[1]))
