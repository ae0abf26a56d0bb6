"""`manage.py backup FILE`: the database in one file, while the service runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.backups.services import back_up


class Command(BaseCommand):
    help = "Write the database as it is now into one file; nothing has to be stopped for it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, readable by its owner only")
        parser.add_argument("--force", action="store_true", help="replace a file that is there")

    def handle(self, *_: Any, file: Path, force: bool, **__: Any) -> None:
        if file.exists() and not force:
            raise CommandError(f"{file} is there already: name another one, or --force")
        try:
            rows = back_up(file)
        except OSError as error:
            raise CommandError(f"no backup was written: {error}") from error
        total = sum(rows.values())
        self.stdout.write(f"{file}: {total} rows of {len(rows)} tables, {file.stat().st_size} B")
        self.stdout.write(
            "Keep the sealing keys apart from it; without them it cannot be restored."
        )
