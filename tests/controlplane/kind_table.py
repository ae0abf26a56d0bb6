"""`controlplane/operations/KINDS.md`: what each kind of operation does, takes, and what undoes it.

`python -m tests.controlplane.kind_table` writes the file; a test holds it against the kinds.
"""

import os
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "controlplane" / "operations" / "KINDS.md"
HEAD = """\
# Kinds of operation

Written by `python -m tests.controlplane.kind_table` from the kinds; do not edit.

A plan is asked for with `POST /api/v1/plans` and `{"kind": …, "cluster_id": …, "inputs": {…}}`. Inputs in *italics*
may be left out; `cluster_id` is for kinds on a cluster. Their types and bounds are in the OpenAPI document
(`GET /api/v1/openapi.json`, schema `PlanInputRequest`). A kind that cannot be cancelled is cancelled only before its
first step; what each step's failure leaves is in [RESTORES](RESTORES.md), who may do it in [PERMISSIONS](PERMISSIONS.md).
"""


def render() -> str:
    from controlplane.operations.operations import kind_names, required_kind
    from controlplane.operations.restores import EXECUTE

    rows = []
    for name in kind_names():
        kind = required_kind(name)
        writing = [spec.title for spec in kind.steps if spec.phase == EXECUTE and spec.writes]
        titles = writing or [spec.title for spec in kind.steps]
        undo = kind.restores or f"none: {kind.final}"
        rows.append(
            [
                f"`{name}`",
                "x" if kind.on_cluster else "",
                "; ".join(titles),
                undo,
                "x" if kind.cancellable else "",
                ", ".join(_inputs(kind)) or "none",
            ]
        )
    head = ["kind", "on a cluster", "what it does", "what its undo does", "cancellable", "inputs"]
    lines = [head, ["---"] * len(head), *rows]
    return f"{HEAD}\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _inputs(kind: Any) -> list[str]:
    fields = kind.inputs().fields
    return [f"`{name}`" if field.required else f"*`{name}`*" for name, field in fields.items()]


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    import django

    django.setup()
    FILE.write_text(render(), encoding="utf-8")
