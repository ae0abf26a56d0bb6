"""`controlplane/operations/RESTORES.md`: what brings the world back, of each step of each kind.

`python -m tests.controlplane.restore_table` writes the file; a test holds it against the kinds.
"""

import os
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "controlplane" / "operations" / "RESTORES.md"
HEAD = """\
# What is restored when an operation fails or is cancelled

Written by `python -m tests.controlplane.restore_table` from the kinds' steps; do not edit.

Each step that writes on the way to success, and what follows when the operation fails or is cancelled after
it began: the steps that bring back what it did, or what stays. A kind whose steps leave this open does not load.
`else` is what stays where those steps cannot bring it back.
A restoring step reads the truth first: it touches nothing that others have changed meanwhile, and says what it
had to leave. All that stays is in the operation's `remains`, in REST and on its page; where there is an undo, its
plan takes that away too. A kind that cannot be cancelled is cancelled only before its first step.
"""
SILENT = """
Steps that only read, or that verify, change nothing, so nothing of them is restored.
"""


def render() -> str:
    from controlplane.operations.operations import kind_names, required_kind
    from controlplane.operations.restores import EXECUTE

    rows = []
    for name in kind_names():
        kind = required_kind(name)
        writing = [spec for spec in kind.steps if spec.phase == EXECUTE and spec.writes]
        for spec in writing:
            failed = _way(kind, spec, cancelled=False)
            cancelled = _way(kind, spec, cancelled=True) if kind.cancellable else ""
            rows.append([f"`{name}`", spec.title, failed, cancelled])
        if not writing:
            rows.append([f"`{name}`", "no step writes", "", ""])
    head = ["kind", "step", "when it failed", "when it was cancelled"]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{HEAD}{table}{SILENT}"


def _way(kind, spec, *, cancelled):
    from controlplane.operations.restores import restorers

    back = restorers(spec, kind.steps, cancelled=cancelled)
    if not back:
        return f"stays: {spec.stays}"
    titles = ", then ".join(f"“{other.title}”" for other in back)
    return f"{titles}; else: {spec.stays}" if spec.stays else titles


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    import django

    django.setup()
    FILE.write_text(render(), encoding="utf-8")
