"""Users and ACLs a page at a time, and of users on a page what their ACLs let them do."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, F, Q, TextField, Value, Window
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Concat, RowNumber

from controlplane.access.selectors import SERVICE_USERS
from controlplane.observed.listings import Listed, Wanted, listed
from controlplane.observed.readers import Reader
from controlplane.observed.sections import ACLS, USERS
from controlplane.observed.selectors import rows_to_cut, section

USER_ORDERS: Mapping[str, Any] = {"username": "key"}
ACL_ORDERS: Mapping[str, Any] = {
    # Keys begin with the principal.
    "principal": "key",
    "permission": KT("row__permission"),
    "operation": KT("row__operation"),
    "resource": Concat(
        KT("row__resource_type"), Value(" "), KT("row__resource_name"), output_field=TextField()
    ),
    "host": KT("row__host"),
}
RULES_SHOWN = 5
"""ACLs of a user that a list says in words; of the others how many there are."""


def users_listed(reader: Reader, wanted: Wanted) -> Listed:
    """A page of users; the figures say which of the service's own there are (`managed`).

    Raises:
        Forbidden: users are seen with a role on the whole cluster.
    """
    rows = rows_to_cut(reader, USERS)
    page = listed(reader, rows, wanted, match=wanted.matching(), order=USER_ORDERS[wanted.sort])
    own = rows.filter(key__in=sorted(SERVICE_USERS)).values_list("key", flat=True)
    return Listed(
        rows=page.rows,
        page=page.page,
        matched=page.matched,
        total=page.total,
        figures={"managed": list(own)},
    )


def acls_listed(reader: Reader, wanted: Wanted) -> Listed:
    """A page of ACLs; the search is in all that they say.

    Raises:
        Forbidden: as for users.
    """
    rows = rows_to_cut(reader, ACLS)
    return listed(reader, rows, wanted, match=wanted.matching(), order=ACL_ORDERS[wanted.sort])


def with_rules(reader: Reader, users: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of users with `rules`: {count, denies, first}, of the ACLs that name them, in a fixed
    number of statements; null while ACLs were never read.
    """
    if section(reader, ACLS).as_of is None:
        return [{**user, "rules": None} for user in users]
    names = [f"User:{user['username']}" for user in users]
    # As a text: SQLite takes what a key is compared with for JSON.
    principal = Cast(KT("row__principal"), TextField())
    theirs = rows_to_cut(reader, ACLS).annotate(principal=principal)
    theirs = theirs.filter(principal__in=names).order_by()
    denied = Count("pk", filter=Q(row__permission="DENY"))
    counts = theirs.values("principal").annotate(count=Count("pk"), denies=denied)
    found = {each["principal"]: each for each in counts}
    nth = Window(RowNumber(), partition_by=[F("principal")], order_by=F("key").asc())
    first: dict[str, list[dict[str, Any]]] = {}
    shown = theirs.annotate(nth=nth).filter(nth__lte=RULES_SHOWN).order_by("key")
    for name, row in shown.values_list("principal", "row"):
        first.setdefault(name, []).append(row)
    return [
        {
            **user,
            "rules": {
                "count": found[name]["count"] if name in found else 0,
                "denies": found[name]["denies"] if name in found else 0,
                "first": first.get(name, []),
            },
        }
        for user, name in zip(users, names, strict=True)
    ]
