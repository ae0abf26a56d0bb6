"""`controlplane/operations/LOCKS.md`: the table of locks and what follows from it.

`python -m tests.controlplane.lock_table` writes the file; a test holds it against the table.
"""

from pathlib import Path

from controlplane.operations.locks import LOCKS, Lock, Mode, Resource, in_the_way

FILE = Path(__file__).resolve().parents[2] / "controlplane" / "operations" / "LOCKS.md"
HEAD = """\
# Which operations exclude each other

Written by `python -m tests.controlplane.lock_table` from `locks.py`; do not edit.

An operation takes its locks when its plan is confirmed, all of them or none, in the transaction that makes
it. Shared (`s`) goes with shared; exclusive (`x`) with nothing. If something is in the way, the confirmation is
refused: 409 `operation-in-progress`, with the operation that holds it (`operation_id`) and the lock (`lock`).
The plan stays open. Locks are held until the operation has ended, what it rolls back included; the plan that
undoes it is an operation of its own. `GET /operations/{id}` shows them.
"""
RESOURCES = """
A cluster's name is locked within its tenant, everything else within its cluster. `placement` is which brokers
hold the cluster's replicas. `topic` is that it is there and how many partitions it has; `topic-config` are its
settings, which may change while its replicas move. A reassignment locks each topic that it moves, a reset each
topic that it has offsets of, an ACL's operation each user that it is about, and each rule (`acl`).
"""
PAIRS = """
## Each pair

On the same cluster, topic, group, user and rule (of new clusters: the same name). `–`: one of the two is refused while the
other is under way; `+`: both may be.
"""


def together(one: str, other: str) -> bool:
    """Whether both may be under way on the same things."""
    return in_the_way(_on_one_of_each(one), _on_one_of_each(other)) is None


def _on_one_of_each(kind: str) -> list[Lock]:
    """The cluster that a kind makes is another one than that on which the others are."""
    is_new = Resource.CLUSTER_NAME in LOCKS[kind]
    return [
        Lock(kind if is_new and resource is Resource.CLUSTER else "same", resource, "", mode)
        for resource, mode in LOCKS[kind].items()
    ]


def render() -> str:
    letters = {Mode.SHARED: "s", Mode.EXCLUSIVE: "x", None: ""}
    locks = [
        [f"`{kind}`", *(letters[row.get(resource)] for resource in Resource)]
        for kind, row in LOCKS.items()
    ]
    kinds = list(LOCKS)
    pairs = [
        [f"`{one}`", *("+" if together(one, other) else "–" for other in kinds)] for one in kinds
    ]
    return "".join(
        [
            HEAD,
            _table(["", *Resource], locks),
            RESOURCES,
            PAIRS,
            _table(["", *(f"`{kind}`" for kind in kinds)], pairs),
        ]
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
