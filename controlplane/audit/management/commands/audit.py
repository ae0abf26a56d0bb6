"""`manage.py audit check|protect|forget`: whether the record is append-only, and its retention."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from controlplane.audit.protection import is_owner, missing, protect
from controlplane.audit.services import SYSTEM, events_forget

DAYS_MIN = 30


class Command(BaseCommand):
    help = "The audit record: whether the database keeps it append-only, and forgetting old rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser(
            "check", help="say whether the triggers are there; fails if they are not"
        )
        actions.add_parser("protect", help="put the triggers on, again if they went")
        forget = actions.add_parser("forget", help="delete rows that are older, and record that")
        forget.add_argument("--days", type=int, required=True, help=f"at least {DAYS_MIN}")

    def handle(self, *_: Any, **options: Any) -> None:
        {"check": self._check, "protect": self._protect, "forget": self._forget}[options["action"]](
            options
        )

    def _check(self, _options: dict[str, Any]) -> None:
        gone = missing(connection)
        if gone:
            raise CommandError(f"The audit record is not append-only: without {', '.join(gone)}.")
        self.stdout.write("The audit record is append-only.")
        if is_owner(connection):
            self.stdout.write(
                "This role owns the table and could take the triggers off: let another role own it."
            )

    def _protect(self, options: dict[str, Any]) -> None:
        protect(connection)
        self._check(options)

    def _forget(self, options: dict[str, Any]) -> None:
        days = options["days"]
        if days < DAYS_MIN:
            raise CommandError(f"Rows of the last {DAYS_MIN} days stay.")
        gone = events_forget(until=timezone.now() - timedelta(days=days), actor=SYSTEM)
        self.stdout.write(f"{gone} rows deleted.")
