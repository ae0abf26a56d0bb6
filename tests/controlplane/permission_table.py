"""`controlplane/operations/PERMISSIONS.md`: who may do what, from the kinds and from the URL table.

`python -m tests.controlplane.permission_table` writes the file; a test holds it against both.
"""

import re
from pathlib import Path
from typing import Any

from controlplane.common.grants import (
    GRANT_ROLES,
    ROLES,
    Area,
    Grant,
    Match,
    Over,
    Pattern,
    Verb,
)

FILE = Path(__file__).resolve().parents[2] / "controlplane" / "operations" / "PERMISSIONS.md"
METHODS = ("get", "post", "put", "patch", "delete")
PLATFORM = "platform"
HEAD = """\
# Who may do what

Written by `python -m tests.controlplane.permission_table` from the table of locks, the roles and the URL table; do
not edit.

Nothing is allowed without a grant. A member has a role on everything of the tenant, or `limited`, and grants: a role
over clusters by name, or over topics or groups by name on such clusters. A name is any, a literal or a prefix that ends
with a separator; names are compared letter by letter. Messages are read with `browse` and written with `produce`: to see
a topic is not to see what it holds. A key's scope `read` is the role viewer and `write` the role
operator on everything, `limited` what its grants say; it is never more than what its maker may now.
"""
ROLES_HEAD = """
## Roles

`x`: by a role on everything of the tenant.
"""
GRANTS_HEAD = """
## Grants over a part

What a grant over one of these allows, on the clusters and names that it covers (`r`: read, `w`: read and write, `m`: read
messages, `p`: write messages).
"""
KINDS_HEAD = """
## Operations

What a plan, its confirmation, cancellation, undoing and secret need, of each thing by name (`r`, `w`). A narrower
grant is asked twice when a plan is made, and again at each later step, with what the caller may then: 404 for a
cluster or operation that no grant shows, 403 for the rest.
"""
VIEWS_HEAD = """
## Addresses

The verb and the area without which an address is refused at once (403; `platform`: operators of the platform, signed
in, and 404 to everybody else). With an area other than `tenant` the answer
holds what the caller's grants cover, and nothing else is found (404).
"""


def kinds() -> list[list[str]]:
    from controlplane.operations.operations import kind_names
    from controlplane.operations.permissions import row_of

    areas = (Area.OUTLINE, Area.CLUSTER, Area.ACCESS, Area.TOPIC, Area.GROUP)
    rows = []
    for name in kind_names():
        row = row_of(name)
        rows.append([f"`{name}`", *(_letter(row.get(area)) for area in areas)])
    return [["", *(area.value for area in areas)], *rows]


def views() -> list[tuple[str, str, str, str]]:
    """(method, address, verb, area) of every method of every address that knows its caller."""
    from controlplane.tenants.permissions import OperatorPermission, TenantPermission, need_of
    from tests.controlplane.rest.test_endpoints import served

    found = set()
    for route, callback in served():
        view: Any = getattr(callback, "view_class", None)
        asked = {TenantPermission, OperatorPermission} & set(
            getattr(view, "permission_classes", ())
        )
        if not asked:
            continue
        for method in METHODS:
            if hasattr(view, method):
                verb, area = need_of(view, method.upper())
                address = "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route)
                where = PLATFORM if OperatorPermission in asked else area.value
                found.add((method.upper(), address, verb.value, where))
    return sorted(found, key=lambda row: (row[1], row[0]))


def render() -> str:
    roles = [
        [f"`{role}`", *("x" if verb in verbs else "" for verb in Verb)]
        for role, verbs in ROLES.items()
    ]
    areas = [area for area in Area if area not in {Area.SELF, Area.OPERATION}]
    grants = [
        [f"{role} over {_over(over)}", *(_allowed(role, over, area) for area in areas)]
        for role in GRANT_ROLES
        for over in Over
    ]
    addresses = [[f"`{m} {path}`", verb, area] for m, path, verb, area in views()]
    head, *rows = kinds()
    return "".join(
        [
            HEAD,
            ROLES_HEAD,
            _table(["", *(verb.value for verb in Verb)], roles),
            GRANTS_HEAD,
            _table(["", *(area.value for area in areas)], grants),
            KINDS_HEAD,
            _table(head, rows),
            VIEWS_HEAD,
            _table(["", "verb", "area"], addresses),
        ]
    )


def _over(over: Over) -> str:
    return {Over.CLUSTER: "clusters", Over.TOPIC: "topics", Over.GROUP: "groups"}[over]


def _allowed(role: str, over: Over, area: Area) -> str:
    some = Pattern(Match.LITERAL, "a")
    grant = Grant(role=role, clusters=some, over=over)
    verbs = [verb for verb in Verb if grant.allows(verb, area, "a", "a")]
    strongest = [verb for verb in verbs if verb not in MESSAGES][-1:]
    # Messages are a topic's.
    messages = [verb for verb in verbs if verb in MESSAGES and area is Area.TOPIC]
    return "".join(map(_letter, [*strongest, *messages]))


MESSAGES = (Verb.BROWSE, Verb.PRODUCE)


def _letter(verb: Verb | None) -> str:
    letters = {Verb.READ: "r", Verb.WRITE: "w", Verb.ADMINISTER: "a"}
    return "" if verb is None else {**letters, Verb.BROWSE: "m", Verb.PRODUCE: "p"}[verb]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    FILE.write_text(render(), encoding="utf-8")
