"""`manage.py audit_events`: the filters of the REST API over one tenant's record."""

import csv
import json
import stat
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from controlplane.audit import selectors
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import audit_record
from controlplane.common.times import iso
from tests.controlplane.administration.test_commands import refusal, run
from tests.controlplane.support import ACTOR, client_for, tenant_make

pytestmark = pytest.mark.django_db


@pytest.fixture
def recorded():
    """Three rows of acme, one of rival."""
    for slug, action, name in (
        ("acme", "topic.create", "orders"),
        ("acme", "topic.delete", "orders"),
        ("acme", "user.create", "=app"),
        ("rival", "topic.create", "theirs"),
    ):
        audit_record(
            tenant_id=tenant_make(slug).pk,
            actor=ACTOR,
            action=action,
            resource=f"{action.partition('.')[0]}/{name}",
        )


def actions(rows):
    """Sorted: rows of one millisecond are in no order."""
    return sorted(row["action"] for row in rows)


def test_a_search_finds_what_rest_finds(recorded):
    client = client_for(tenant_make())
    now = timezone.now()
    for query in (
        {},
        {"action": "topic."},
        {"resource": "user/"},
        {"actor": "user:t", "outcome": "ok"},
        {"cluster_id": "none"},
        {"from": iso(now - timedelta(hours=1)), "to": iso(now + timedelta(hours=1))},
        {"from": iso(now + timedelta(hours=1))},
    ):
        words = [
            word for name, value in query.items() for word in (f"--{name.replace('_', '-')}", value)
        ]
        found = run("audit_events", "search", "acme", *words)
        assert found == client.get("/api/v1/audit-events", query).json()["data"], query
    every = run("audit_events", "search", "acme")
    assert actions(every) == ["topic.create", "topic.delete", "user.create"]
    assert run("audit_events", "search", "acme", "--limit", "1") == every[:1]


def test_a_table_has_the_columns_that_fit(recorded, capsys):
    call_command("audit_events", "search", "rival")
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["at", "actor", "action", "resource", "outcome", "reason"]
    assert row.split()[2:4] == ["topic.create", "topic/theirs"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "There is no tenant nobody."),
        (("acme", "--limit", "0"), "limit: It is a number from 1 to 500."),
        (("acme", "--from", "yesterday"), "from: "),
        (("acme", "--actor", "x" * 201), "actor: "),
        (("acme", "--from", "2026-02-01T00:00:00Z", "--to", "2026-01-01T00:00:00Z"), "from is af"),
    ],
)
def test_bad_filters_are_refused_in_a_line(recorded, words, said):
    assert said in refusal("audit_events", "search", *words)


def test_an_export_is_a_file_of_its_owner_and_a_row_of_the_record(recorded, tmp_path):
    path = tmp_path / "audit.ndjson"
    words = ("audit_events", "export", "acme", "--file", str(path), "--action", "topic.")
    assert run(*words) == {"file": str(path), "rows": 2, "complete": True}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert actions(rows) == ["topic.create", "topic.delete"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    row = AuditEvent.objects.get(action="audit.export")
    assert (row.tenant_id, row.actor.partition(":")[0]) == (tenant_make().pk, "manage.py")
    before = path.read_bytes()
    assert "cannot be made" in refusal(*words)
    assert path.read_bytes() == before


def test_a_csv_holds_no_formulas_and_says_when_it_is_cut(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(selectors, "EXPORT_ROWS_MAX", 2)
    path = tmp_path / "audit.csv"
    words = ("audit_events", "export", "acme", "--format", "csv", "--file", str(path))
    assert run(*words) == {"file": str(path), "rows": 2, "complete": False}
    names, *rows = csv.reader(path.read_text().splitlines())
    assert tuple(names) == selectors.FIELDS
    assert len(rows) == 2


def test_an_export_that_fails_leaves_no_file(recorded, tmp_path, monkeypatch):
    def broken(_rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(selectors, "as_ndjson", broken)
    path = tmp_path / "audit.ndjson"
    said = refusal("audit_events", "export", "acme", "--file", str(path))
    assert "No space left on device" in said
    assert not path.exists()
