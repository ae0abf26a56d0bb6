"""The table of configuration keys as a document.

python -m dataplane.config.document > dataplane/config/KEYS.md
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from dataplane.config.broker_config import BROKER_CONFIGS
from dataplane.config.key import Scope
from dataplane.config.topic_config import TOPIC_CONFIGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.config.key import ConfigKey

_HEAD = """# Configuration keys

Made by `python -m dataplane.config.document`; do not edit.

Who may set a key of a managed cluster: *tenant*, whoever owns the cluster, within the tenant's
bounds; *operator*, whoever runs the hosts; *internal*, Penstock itself. A key that is not listed
is nobody's. Keys are case-sensitive. A broker that somebody runs by hand takes every key of its
file, within the broker's bounds.
"""
_COLUMNS = (
    "| key | type | default | allowed | a tenant's | who | changes | meaning |\n" + "|---" * 8 + "|"
)


def keys_document() -> str:
    """Markdown: every key of brokers and of topics, each table in the order of its names."""
    return "\n".join(
        [
            _HEAD,
            "## Brokers",
            "",
            _COLUMNS,
            *_rows(BROKER_CONFIGS.values()),
            "",
            "## Topics",
            "",
            _COLUMNS,
            *_rows(TOPIC_CONFIGS.values(), topics=True),
            "",
        ]
    )


def _rows(keys: Iterable[ConfigKey], *, topics: bool = False) -> list[str]:
    return [_row(key, topics=topics) for key in sorted(keys, key=lambda key: key.name)]


def _row(key: ConfigKey, *, topics: bool) -> str:
    is_tenants = key.scope is Scope.TENANT
    narrower = is_tenants and (key.tenant_lowest, key.tenant_highest) != (-math.inf, math.inf)
    cells = (
        f"`{key.name}`",
        key.type.name,
        f"`{key.format(key.default)}`" if key.default not in (None, "", ()) else "",
        key.allowed,
        key.for_tenant().allowed if narrower else "",
        key.scope.value,
        "at any time" if topics else key.dynamic.value,
        key.doc,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(keys_document())
