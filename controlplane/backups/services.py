"""Back up the database into one file, and restore it into an empty one."""

from dataclasses import dataclass
from pathlib import Path

from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.access.services import overlaps_hold
from controlplane.backups import archive
from controlplane.backups.rules import migrations_differ
from controlplane.backups.selectors import applied_migrations, kept_models, lines_of, snapshot
from controlplane.common.crypto import seal, unseal
from controlplane.common.keyring import SecretUnreadableError
from controlplane.common.models import Leased
from controlplane.common.problems import Problem
from controlplane.operations import engine
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES
from controlplane.tenants.models import ApiKey

INTERRUPTED = "interrupted-by-restore"


class RestoreError(Exception):
    """Nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """`valid_keys` are API keys that are valid now; one revoked since the backup is among them."""

    created_at: str
    rows: int
    operations_resumed: int
    operations_interrupted: int
    overlaps_held: int
    valid_keys: int


def back_up(path: Path) -> dict[str, int]:
    """Write the database as it is at this moment; rows by model. The service may go on."""
    with archive.written(path) as writer, snapshot():
        writer.header(
            {
                "created_at": timezone.now().isoformat(),
                "database": connection.vendor,
                "migrations": applied_migrations(),
                # Opens with the keys that open the secrets in the rows, and not without.
                "key_check": seal({"key_check": True}),
            }
        )
        for model in kept_models():
            for line in lines_of(model):
                writer.row(model._meta.label_lower, line)
        return dict(writer.rows)


def restore(path: Path, *, resume_operations: bool) -> Restored:
    """Fill this database, which is migrated and empty, with the rows of a backup.

    All rows or none. Operations that were under way go on, or end as failed with all that they
    had done, as the caller says: only they know whether the world has moved on since. The same
    goes for old passwords, which are removed when their time is over, or not by the service itself.

    Raises:
        ArchiveError: the file is not a whole backup.
        RestoreError: it does not fit this database or this installation.
    """
    header, rows = archive.checked(path)
    _check_fits(header)
    with transaction.atomic():
        _check_empty()
        try:
            _insert(path)
            connection.check_constraints()
        except (DatabaseError, DeserializationError) as error:
            raise RestoreError(f"a row does not fit: {error}") from error
        _reset_sequences()
        _free_leases()
        active = Operation.objects.filter(state__in=ACTIVE_STATES)
        under_way = list(active.values_list("pk", flat=True))
        held = 0
        if not resume_operations:
            held = overlaps_hold(_held(header["created_at"]))
            for operation_id in under_way:
                if not engine.interrupt(operation_id, _interrupted(header["created_at"])):
                    raise RestoreError(f"the operation {operation_id} could not be ended")
    return Restored(
        created_at=header["created_at"],
        rows=sum(rows.values()),
        operations_resumed=len(under_way) if resume_operations else 0,
        operations_interrupted=0 if resume_operations else len(under_way),
        overlaps_held=held,
        valid_keys=ApiKey.objects.filter(revoked_at=None).count(),
    )


def _check_fits(header: dict[str, object]) -> None:
    migrations = header.get("migrations")
    difference = migrations_differ(
        migrations if isinstance(migrations, dict) else {}, applied_migrations()
    )
    if difference:
        raise RestoreError(
            f"{difference}: restore with the release that made the backup, then migrate"
        )
    try:
        unseal(str(header.get("key_check", "")))
    except SecretUnreadableError as error:
        raise RestoreError(
            "the secrets in the backup were sealed with keys that this installation does not"
            " have: give it those first"
        ) from error


def _check_empty() -> None:
    filled = [m._meta.label for m in kept_models() if QuerySet(m).exists()]
    if filled:
        raise RestoreError(
            f"the database is not empty ({', '.join(filled[:5])}): restore into a new one that"
            " only `manage.py migrate` has written to"
        )


def _insert(path: Path) -> None:
    """Rows as they were: no column fills itself, no signal's receiver adds others."""
    for row in serializers.deserialize("jsonl", archive.row_lines(path)):
        row.save(force_insert=True)


def _reset_sequences() -> None:
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), kept_models()):
            cursor.execute(statement)


def _free_leases() -> None:
    """Whoever held a lease at the backup is not this installation's."""
    for model in kept_models():
        if issubclass(model, Leased):
            QuerySet(model).update(lease_token="", lease_expires_at=None)


def _held(created_at: str) -> str:
    """Since the backup the user may have a newer password in the place of the old one."""
    return (
        f"The database was restored from a backup of {created_at}: which password is the old one"
        " by now is unknown, so none is removed by itself. See which of the two clients use, and"
        " remove the other."
    )


def _interrupted(created_at: str) -> Problem:
    return Problem(
        f"The database was restored from a backup of {created_at}, when this operation was under"
        " way. What it did after that is unknown; nothing more of it runs.",
        code=INTERRUPTED,
        status=409,
    )
