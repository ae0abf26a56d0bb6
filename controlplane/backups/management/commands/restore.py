"""`manage.py restore FILE`: a backup into an empty database, SQLite's or PostgreSQL's."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.backups.archive import ArchiveError
from controlplane.backups.services import RestoreError, restore


class Command(BaseCommand):
    help = "Fill an empty, migrated database with a backup: every row, or none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--resume-operations",
            action="store_true",
            help="operations under way go on; right only where nothing has happened since the"
            " backup, as in a move from one database to another with the service stopped",
        )

    def handle(self, *_: Any, file: Path, resume_operations: bool, **__: Any) -> None:
        try:
            done = restore(file, resume_operations=resume_operations)
        except (ArchiveError, RestoreError) as error:
            raise CommandError(f"nothing was restored: {error}") from error
        self.stdout.write(f"restored {done.rows} rows of the backup of {done.created_at}")
        if done.operations_resumed:
            self.stdout.write(f"{done.operations_resumed} operations go on where they were")
        if done.operations_interrupted:
            self.stdout.write(
                f"{done.operations_interrupted} operations were under way and are ended as failed:"
                " see their pages for what may be left of them"
            )
        if done.overlaps_held:
            self.stdout.write(
                f"{done.overlaps_held} users have two passwords, of which none is removed by itself"
                " any more: see the Access pages"
            )
        self.stdout.write(
            f"{done.valid_keys} API keys are valid, as at the backup: revoke again what was"
            " revoked since. Everybody signs in again."
        )
