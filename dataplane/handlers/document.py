"""The APIs that are served as a document.

python -m dataplane.handlers.document > dataplane/APIS.md
"""

from __future__ import annotations

import sys

from dataplane.handlers.registry import HANDLED
from dataplane.wire.apis import API_TABLE
from dataplane.wire.schema import NEVER_FLEXIBLE

_HEAD = """# APIs

Made by `python -m dataplane.handlers.document`; do not edit.

What a broker offers in its answer to ApiVersions: the versions of Kafka 3.9 in ZooKeeper mode.
Anything else is answered with error 35 (UNSUPPORTED_VERSION).

| key | API | versions | flexible from | file |
|--:|---|---|---|---|"""


def apis_document() -> str:
    """Markdown: every API that is served, in the order of the keys."""
    return "\n".join([_HEAD, *(_row(key) for key in sorted(HANDLED)), ""])


def _row(key: int) -> str:
    spec = next(spec for spec in API_TABLE.values() if spec.key == key)
    lowest, highest = HANDLED[spec.key]
    versions = f"{lowest}-{highest}" if lowest < highest else str(lowest)
    flexible = "never" if spec.flexible_from >= NEVER_FLEXIBLE else str(spec.flexible_from)
    path = f"handlers/{spec.module}.py"
    return f"| {int(spec.key)} | {spec.name} | {versions} | {flexible} | [{path}]({path}) |"


if __name__ == "__main__":
    sys.stdout.write(apis_document())
