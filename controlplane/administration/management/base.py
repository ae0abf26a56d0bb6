"""The base of `manage.py` commands that administer: one line for an error, `--json` for scripts."""

import getpass
import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import Serializer

from controlplane.audit.services import Actor
from controlplane.common.exception_handler import to_problem
from controlplane.common.problems import Problem

Row = dict[str, Any]


class AdministrationCommand(BaseCommand):
    """Subcommands are methods `do_<name>`, which answer a row, rows, or None."""

    @property
    def actor(self) -> Actor:
        """Whoever may run this has the service's own rights: the account stands in the audit."""
        return Actor(name=f"manage.py:{getpass.getuser()}")

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        self.add_actions(actions)
        for action in actions.choices.values():
            action.add_argument(
                "--json",
                action="store_true",
                dest="as_json",
                help="for scripts: the answer as JSON",
            )

    def add_actions(self, actions: Any) -> None:
        """Add a parser for each subcommand."""
        raise NotImplementedError

    def handle(self, *_: Any, action: str, as_json: bool, **options: Any) -> None:
        try:
            found = getattr(self, f"do_{action.replace('-', '_')}")({**options, "as_json": as_json})
        except Problem as problem:
            raise CommandError(one_line(problem)) from problem
        self.show(found, as_json=as_json)

    def show(self, found: Row | list[Row] | None, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(found, indent=1))
        elif isinstance(found, list):
            for line in table(found):
                self.stdout.write(line)
        else:
            for name, value in (found or {}).items():
                self.stdout.write(f"{name:<22} {cell(value)}")


def checked(shape: type[Serializer[Any]], given: Row) -> Row:
    """What the REST API would take, by the same rules. Raises Problem."""
    serializer = shape(data=given)
    try:
        serializer.is_valid(raise_exception=True)
    except ValidationError as error:
        raise to_problem(error) or error from error
    return dict(serializer.validated_data)


def one_line(problem: Problem) -> str:
    """What is wrong, without line breaks: values that were sent stand in it."""
    named = [row["pointer"].lstrip("/") for row in problem.errors if row["pointer"]]
    # What serializers refuse names its fields already.
    says_where = any(problem.detail.startswith(f"{name}: ") for name in named)
    where = f"{', '.join(named)}: " if named and not says_where else ""
    return " ".join(f"{where}{problem.detail}".split())


def table(rows: list[Row]) -> list[str]:
    """Columns under their names; nothing for no rows."""
    if not rows:
        return []
    names = list(rows[0])
    cells = [names, *([cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(cell(row) for row in value) or "-"
    if isinstance(value, dict):
        return " ".join(cell(part) for part in value.values())
    return str(value)
