"""`manage.py audit_events search|export <tenant>`: a tenant's record, by the filters of REST.

`manage.py audit` is about the record as such: whether it is append-only, and how long it is kept.
"""

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from controlplane.administration.management.base import AdministrationCommand, Row, checked
from controlplane.audit import selectors
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import EVERYTHING
from controlplane.common.problems import field_problem
from controlplane.tenants.models import Tenant
from controlplane.tenants.selectors import tenant_by_slug
from controlplane.tenants.serializers import CSV, NDJSON, AuditQuerySerializer
from controlplane.tenants.services import export_record

FILTERS = {
    "actor": "begins with, as user: or key:ci",
    "action": "begins with, as topic. or refused.403",
    "resource": "begins with, as topic/team-a-",
    "outcome": "ok, refused, succeeded, failed, …",
    "cluster-id": "of this cluster",
    "from": "from this moment on, as 2026-01-31T00:00:00Z",
    "to": "before this moment",
}
ROWS_MAX = 500
COLUMNS = ("at", "actor", "action", "resource", "outcome", "reason")
"""Of the table; --json has every field."""
FILE_MODE = 0o600


class Command(AdministrationCommand):
    help = "What was done and what was refused in a tenant: search, and export to a file."

    def add_actions(self, actions: Any) -> None:
        search = actions.add_parser("search", help="the newest rows that match")
        export = actions.add_parser("export", help="every row that matches, as a file")
        for parser in (search, export):
            parser.add_argument("tenant", help="its slug")
            add_filters(parser)
        search.add_argument("--limit", type=int, default=50, help=f"1 to {ROWS_MAX} rows (50)")
        export.add_argument("--format", choices=[NDJSON, CSV], default=NDJSON)
        export.add_argument("--file", type=Path, required=True, help="must not be there yet")

    def do_search(self, options: Row) -> list[Row]:
        limit = options["limit"]
        if not 0 < limit <= ROWS_MAX:
            raise field_problem("/limit", f"It is a number from 1 to {ROWS_MAX}.")
        rows = matching(tenant_by_slug(options["tenant"]), options).order_by("-pk")[:limit]
        found = [selectors.audit_event_dict(row) for row in rows]
        if options["as_json"]:
            return found
        return [{name: row[name] for name in COLUMNS} for row in found]

    def do_export(self, options: Row) -> Row:
        tenant, wanted = tenant_by_slug(options["tenant"]), options["format"]
        rows = matching(tenant, options)
        export_record(self.actor, tenant, wanted)
        is_whole = selectors.is_whole(rows)
        count = written(options["file"], rows, is_csv=wanted == CSV)
        return {"file": str(options["file"]), "rows": count, "complete": is_whole}


def add_filters(parser: ArgumentParser) -> None:
    for name, words in FILTERS.items():
        parser.add_argument(f"--{name}", dest=f"filter_{name.replace('-', '_')}", help=words)


def matching(tenant: Tenant, options: Row) -> QuerySet[AuditEvent]:
    """Raises Invalid: a filter that the REST API would refuse."""
    prefix = "filter_"
    given = {
        name.removeprefix(prefix): value
        for name, value in options.items()
        if name.startswith(prefix) and value is not None
    }
    search = selectors.search_of(checked(AuditQuerySerializer, given))
    return selectors.audit_events(tenant.pk, search)


def written(path: Path, rows: QuerySet[AuditEvent], *, is_csv: bool) -> int:
    """How many rows the new file has, which only its owner reads; none is left when it fails.

    Raises CommandError: it cannot be made, or not be written to the end.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except OSError as error:
        raise CommandError(f"{path} cannot be made: {error.strerror}.") from error
    count = 0
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            for part, text in texts(rows, is_csv=is_csv):
                file.write(text)
                count += part
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
        raise
    return count


def texts(rows: QuerySet[AuditEvent], *, is_csv: bool) -> Iterator[tuple[int, str]]:
    """(how many rows, their text), batch by batch; CSV begins with its names."""
    show = selectors.shown(EVERYTHING)
    if is_csv:
        yield 0, selectors.csv_head()
    for batch in selectors.batches(rows):
        shown = [row for row in map(show, batch) if row is not None]
        yield len(shown), selectors.as_csv(shown) if is_csv else selectors.as_ndjson(shown)
