from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from fulfillments.tracking.formats import DATA
from fulfillments.tracking.updating import WrongDataSet, compact


class Command(BaseCommand):
    help = "Update the formats of tracking numbers from a folder with the data set tracking_number_data."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="The folder that contains couriers/*.json.")
        parser.add_argument(
            "--data-version", required=True, help="The version or commit of the data set, kept in the file."
        )
        parser.add_argument("--to", type=Path, default=DATA, help="The file to write. Default: ours.")

    def handle(self, *args: object, folder: Path, data_version: str, to: Path, **options: object) -> None:
        try:
            data = compact(folder, data_version)
        except (WrongDataSet, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in data.pop("formats"))
        head = json.dumps(data, ensure_ascii=False)[:-1]
        to.write_text(f'{head}, "formats": [\n{rows}\n]}}\n')
        self.stdout.write(f"{to} has {rows.count(chr(10)) + 1} formats.")
