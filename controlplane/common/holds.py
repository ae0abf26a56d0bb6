"""A name that one transaction at a time holds, for what has no row that could be locked."""

from hashlib import sha256

from django.db import connection


def hold(name: str) -> None:
    """Wait for `name`, and hold it until the present transaction ends.

    On SQLite a transaction that writes is alone from its beginning.
    """
    if connection.vendor != "postgresql":
        return
    number = int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
