"""The record is append-only by the database itself: triggers refuse to change or delete its rows.

Only rows older than the one row of `AuditRetention` may go, and that row is there only within the
transaction of the operator's command `audit forget`. On PostgreSQL the triggers hold for every role
that does not own the table; an owner can take them off, so give the service a role of its own.
"""

from typing import Any

POSTGRESQL, SQLITE = "postgresql", "sqlite"
TABLE = "audit_auditevent"
NAMES = ("audit_no_update", "audit_no_delete")
TRUNCATE = "audit_no_truncate"

_FORWARD = {
    POSTGRESQL: (
        """CREATE OR REPLACE FUNCTION audit_append_only() RETURNS trigger AS $$
        BEGIN
          IF TG_OP = 'DELETE' THEN
            IF EXISTS (SELECT 1 FROM audit_auditretention WHERE until > OLD.created_at) THEN
              RETURN OLD;
            END IF;
          END IF;
          RAISE EXCEPTION 'the audit record is append-only';
        END $$ LANGUAGE plpgsql""",
        """CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit_auditevent
        FOR EACH ROW EXECUTE FUNCTION audit_append_only()""",
        """CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit_auditevent
        FOR EACH ROW EXECUTE FUNCTION audit_append_only()""",
        """CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_auditevent
        FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()""",
        "REVOKE UPDATE, DELETE, TRUNCATE ON audit_auditevent FROM PUBLIC",
    ),
    SQLITE: (
        """CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit_auditevent
        BEGIN SELECT RAISE(ABORT, 'the audit record is append-only'); END""",
        """CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit_auditevent
        WHEN NOT EXISTS (SELECT 1 FROM audit_auditretention WHERE until > OLD.created_at)
        BEGIN SELECT RAISE(ABORT, 'the audit record is append-only'); END""",
    ),
}
_BACK = {
    POSTGRESQL: (
        "DROP TRIGGER IF EXISTS audit_no_update ON audit_auditevent",
        "DROP TRIGGER IF EXISTS audit_no_delete ON audit_auditevent",
        "DROP TRIGGER IF EXISTS audit_no_truncate ON audit_auditevent",
        "DROP FUNCTION IF EXISTS audit_append_only()",
    ),
    SQLITE: (
        "DROP TRIGGER IF EXISTS audit_no_update",
        "DROP TRIGGER IF EXISTS audit_no_delete",
    ),
}
_FIND = {
    POSTGRESQL: "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgenabled <> 'D'",
    SQLITE: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
}


def protect(connection: Any) -> None:
    """Put the triggers on; again does no harm."""
    unprotect(connection)
    _run(connection, _FORWARD)


def unprotect(connection: Any) -> None:
    _run(connection, _BACK)


def _run(connection: Any, statements: dict[str, tuple[str, ...]]) -> None:
    with connection.cursor() as cursor:
        for statement in statements.get(connection.vendor, ()):
            cursor.execute(statement)


def missing(connection: Any) -> list[str]:
    """The names of triggers that are not there or off; empty when the record is protected."""
    wanted = (*NAMES, TRUNCATE) if connection.vendor == POSTGRESQL else NAMES
    if connection.vendor not in _FIND:
        return list(wanted)
    with connection.cursor() as cursor:
        cursor.execute(_FIND[connection.vendor], [TABLE])
        found = {row[0] for row in cursor.fetchall()}
    return [name for name in wanted if name not in found]


def is_owner(connection: Any) -> bool | None:
    """Whether this role could take the triggers off; None where there are no roles (SQLite)."""
    if connection.vendor != POSTGRESQL:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = %s::regclass", [TABLE]
        )
        return bool(cursor.fetchone()[0])
