"""A database is backed up while it is written to, and restored into an empty one."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone

from controlplane.access.models import PasswordOverlap
from controlplane.access.rotation import end_due
from controlplane.audit.models import AuditEvent
from controlplane.backups import services
from controlplane.backups.archive import ArchiveError
from controlplane.backups.rules import LEFT_OUT
from controlplane.backups.selectors import kept_models
from controlplane.common.crypto import key_file
from controlplane.operations import engine
from controlplane.operations.models import Operation, OperationLock
from controlplane.operations.states import FAILED, SUCCEEDED
from controlplane.operations.tasks import sweep
from controlplane.tenants.models import Tenant
from tests.controlplane.backups.filling import everything, fill
from tests.controlplane.support import drive

pytestmark = pytest.mark.django_db(transaction=True)
REPOSITORY = Path(__file__).parents[3]


def empty() -> None:
    call_command("flush", interactive=False, verbosity=0)


def test_every_model_is_kept_or_left_out_with_a_reason():
    all_models = {model._meta.label_lower for model in apps.get_models()}
    assert set(LEFT_OUT) <= all_models
    assert {model._meta.label_lower for model in kept_models()} == all_models - set(LEFT_OUT)


def test_what_a_row_refers_to_is_inserted_before_it():
    order = kept_models()
    for model in order:
        for field in model._meta.concrete_fields:
            if field.related_model not in {None, model}:
                assert order.index(field.related_model) < order.index(model), (model, field)


def test_every_column_of_every_model_comes_back(tmp_path):
    fill()
    before = everything()
    rows = services.back_up(tmp_path / "b")
    assert set(rows) == {model._meta.label_lower for model in kept_models()}
    empty()
    done = services.restore(tmp_path / "b", resume_operations=True)
    after = everything()
    for label, kept in before.items():
        for row in kept:  # a lease at the time of the backup is nobody's now
            if "lease_token" in row:
                row |= {"lease_token": "", "lease_expires_at": None}
        assert after[label] == kept, label
    assert done.rows == sum(rows.values())


def test_rows_made_after_a_restore_get_keys_of_their_own(tmp_path, world):
    world.run("topic.create", name="before", partitions=1)
    services.back_up(tmp_path / "b")
    empty()
    services.restore(tmp_path / "b", resume_operations=False)
    known = set(AuditEvent.objects.values_list("pk", flat=True))
    assert world.run("topic.create", name="after", partitions=1).state == SUCCEEDED
    assert known < set(AuditEvent.objects.values_list("pk", flat=True))


def test_the_backup_is_of_one_moment_and_keeps_no_writer_waiting(tmp_path, monkeypatch):
    tenant = Tenant.objects.create(slug="first", name="First")
    plainly = services.lines_of
    written = []

    def write():
        try:
            Tenant.objects.create(slug="second", name="Second")
            AuditEvent.objects.create(tenant_id=tenant.id, action="a", resource="r", outcome="ok")
            Tenant.objects.filter(pk=tenant.pk).update(name="Changed")
            written.append(True)
        finally:
            connections.close_all()

    def lines_of(model):
        lines = list(plainly(model))
        if not written:
            writer = threading.Thread(target=write)
            writer.start()
            writer.join(15.0)
        return iter(lines)

    monkeypatch.setattr(services, "lines_of", lines_of)
    services.back_up(tmp_path / "b")
    assert written
    assert Tenant.objects.count() == 2
    empty()
    services.restore(tmp_path / "b", resume_operations=False)
    assert [(t.slug, t.name) for t in Tenant.objects.all()] == [("first", "First")]
    assert not AuditEvent.objects.exists()


def test_operations_under_way_go_on_where_they_were(tmp_path, world):
    operation = world.start(world.plan("topic.create", name="orders", partitions=2))
    assert engine.tick(operation.id)
    assert engine.claim(operation.id)  # a worker is at it
    services.back_up(tmp_path / "b")
    empty()
    done = services.restore(tmp_path / "b", resume_operations=True)
    assert (done.operations_resumed, done.operations_interrupted) == (1, 0)
    Operation.objects.update(next_run_at=timezone.now() - timezone.timedelta(seconds=10))
    assert sweep() == 1
    assert drive(operation).state == SUCCEEDED
    assert "orders" in {topic.name for topic in world.gateway.list_topics()}


@pytest.mark.parametrize("ticks", [0, 1, 2])
def test_operations_under_way_end_as_failed_and_touch_nothing(tmp_path, world, ticks):
    operation = world.start(world.plan("topic.create", name="orders", partitions=2))
    drive(operation, ticks=ticks)
    services.back_up(tmp_path / "b")
    empty()
    topics_before = world.gateway.list_topics()
    done = services.restore(tmp_path / "b", resume_operations=False)
    assert (done.operations_resumed, done.operations_interrupted) == (0, 1)
    assert drive(operation).state == FAILED
    assert operation.error["code"] == services.INTERRUPTED
    assert "What it did after that is unknown" in operation.error["detail"]
    assert world.gateway.list_topics() == topics_before
    assert not OperationLock.objects.exists()
    assert AuditEvent.objects.filter(action="topic.create.failed").exists()
    # The name is free for the next operation.
    assert world.plan("topic.create", name="other", partitions=1).id


@pytest.mark.parametrize(("resume", "state"), [(True, "standing"), (False, "held")])
def test_an_old_password_is_not_removed_after_a_restore_unless_said(tmp_path, world, resume, state):
    world.run("user.create", username="app")
    world.run("user.rotate", username="app", overlap_s=60)
    services.back_up(tmp_path / "b")
    empty()
    done = services.restore(tmp_path / "b", resume_operations=resume)
    assert done.overlaps_held == (0 if resume else 1)
    PasswordOverlap.objects.update(next_try_at=timezone.now())
    row = PasswordOverlap.objects.get()
    assert (row.state, "restored from a backup" in row.problem) == (state, not resume)
    assert end_due() == (1 if resume else 0)
    assert len(world.gateway.users) == 2


def test_an_operation_that_cannot_be_ended_undoes_the_restore(tmp_path, world, monkeypatch):
    """It would go on as soon as the service starts, against what the operator has said."""
    world.start(world.plan("topic.create", name="orders", partitions=2))
    services.back_up(tmp_path / "b")
    empty()
    monkeypatch.setattr(engine, "interrupt", lambda _operation_id, _problem: False)
    with pytest.raises(services.RestoreError, match="could not be ended"):
        services.restore(tmp_path / "b", resume_operations=False)
    assert not Operation.objects.exists()


def test_nobody_stays_signed_in(tmp_path):
    Session.objects.create(session_key="k", session_data="d", expire_date=timezone.now())
    services.back_up(tmp_path / "b")
    empty()
    services.restore(tmp_path / "b", resume_operations=False)
    assert not Session.objects.exists()


def test_a_database_that_holds_something_is_left_alone(tmp_path):
    Tenant.objects.create(slug="first", name="First")
    services.back_up(tmp_path / "b")
    with pytest.raises(services.RestoreError, match="not empty"):
        services.restore(tmp_path / "b", resume_operations=False)
    assert Tenant.objects.count() == 1


def test_a_row_that_does_not_fit_takes_the_others_with_it(tmp_path, monkeypatch):
    Tenant.objects.create(slug="first", name="First")
    monkeypatch.setattr(services, "lines_of", twice(services.lines_of))
    services.back_up(tmp_path / "b")
    empty()
    with pytest.raises(services.RestoreError, match="does not fit"):
        services.restore(tmp_path / "b", resume_operations=False)
    assert not Tenant.objects.exists()


def twice(lines_of):
    return lambda model: (line for line in lines_of(model) for _ in range(2))


def test_another_schema_is_named(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(services, "applied_migrations", lambda: {"tenants": ["0001_x", "0099_y"]})
        services.back_up(tmp_path / "b")
    with pytest.raises(services.RestoreError, match=r"the backup has tenants\.0001_x, .*0099_y"):
        services.restore(tmp_path / "b", resume_operations=False)


def test_without_the_sealing_keys_nothing_is_restored(tmp_path, monkeypatch):
    sealed_elsewhere = "gAAAAABn" + "A" * 100
    with monkeypatch.context() as patch:
        patch.setattr(services, "seal", lambda _values: sealed_elsewhere)
        services.back_up(tmp_path / "b")
    with pytest.raises(services.RestoreError, match="keys that this installation does not have"):
        services.restore(tmp_path / "b", resume_operations=False)


def test_a_damaged_file_writes_nothing(tmp_path):
    Tenant.objects.create(slug="first", name="First")
    services.back_up(tmp_path / "b")
    empty()
    (tmp_path / "b").write_bytes((tmp_path / "b").read_bytes()[:-40])
    with pytest.raises(ArchiveError):
        services.restore(tmp_path / "b", resume_operations=False)
    assert not Tenant.objects.exists()


def test_the_commands_say_what_they_did(tmp_path, capsys):
    Tenant.objects.create(slug="first", name="First")
    file = tmp_path / "b"
    call_command("backup", str(file))
    with pytest.raises(CommandError, match="is there already"):
        call_command("backup", str(file))
    call_command("backup", str(file), "--force")
    with pytest.raises(CommandError, match="nothing was restored: the database is not empty"):
        call_command("restore", str(file))
    empty()
    call_command("restore", str(file))
    said = capsys.readouterr().out
    assert "restored 1 rows" in said
    assert "Everybody signs in again" in said


def manage(folder: Path, *arguments: str) -> str:
    """`manage.py` as a process of its own, on a SQLite file of its own."""
    variables = {
        "DATABASE_URL": f"sqlite:///{folder}/other.sqlite3",
        "PENSTOCK_DATA_DIR": str(folder),
        "PENSTOCK_FERNET_KEY": ",".join(settings.FERNET_KEYS) or key_file().read_text().strip(),
    }
    ran = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def test_from_this_database_to_a_sqlite_file_and_back(tmp_path):
    """On PostgreSQL this is the move from one kind of database to the other, both ways."""
    fill()
    before = everything()
    there, back = tmp_path / "there", tmp_path / "back"
    services.back_up(there)
    manage(tmp_path, "migrate", "--verbosity", "0")
    manage(tmp_path, "restore", str(there), "--resume-operations")
    manage(tmp_path, "backup", str(back))
    empty()
    services.restore(back, resume_operations=True)
    after = everything()
    for rows in (before, after):
        for row in (row for table in rows.values() for row in table):
            row.pop("lease_token", None), row.pop("lease_expires_at", None)
    assert json.dumps(after, default=str) == json.dumps(before, default=str)
    assert connection.vendor in {"sqlite", "postgresql"}
