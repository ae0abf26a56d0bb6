"""What of a change is kept in the record: by an allow list of names, and not without end. Pure."""

from collections.abc import Mapping
from typing import Any

from controlplane.common.kafka_configs import is_topic_setting

HIDDEN = "(not shown)"
ROWS_MAX = 100
"""Of one list; the rest is counted."""
TEXT_MAX_CHARS = 1_000
DEPTH_MAX = 8
SHOWN = frozenset(
    {
        # what a change is about
        *("before", "after", "effective_before", "effective_after", "configs", "config"),
        *("name", "names", "kind", "state", "role", "scope", "grants", "clusters", "match", "over"),
        *("operation_id", "plan_id", "cluster_id", "run_id", "expires_at", "error", "undoes"),
        # topics and their partitions
        *("topic", "topics", "partitions"),
        *("limits", "balance", "restores_to", "log_dir", "broker"),
        # groups and offsets
        *("group", "members", "offsets", "cleanup_policy"),
        *("effect", "reason", "text", "basis"),
        # users and ACLs; a password is in no diff
        *("username", "mechanism", "mechanisms", "acls", "principal", "host", "operation"),
        *("permission", "resource_type", "resource_name", "pattern_type"),
        # tenants, members, keys
        *("keys_made", "service_account", "successor", "ends_at", "slug", "description", "note"),
        # clusters
        *("brokers", "bootstrap_servers", "host_id", "rack", "id", "key"),
        *("security_protocol", "sasl_mechanism", "address", "way"),
        # addresses and log directories of brokers
        *("bootstrap_before", "bootstrap_after", "from_address", "to_address", "ensemble"),
        *("directory", "log_dirs", "moves"),
        # versions of brokers
        *("version", "software", "digest", "from_version", "to_version", "from_software"),
        *("protocol", "now", "newest", "changes", "no_way_back_to", "way_back"),
        # refusals
        *("code", "detail", "method", "path", "step", "rollback_incomplete", "kafka_error"),
        *("title", "type", "filters", "format", "until"),
        # how messages were read, and masks; never what a filter looked for
        *("how", "start", "order", "isolation"),
        *("part", "path", "act", "see_through", "url"),
    }
)
"""Fields whose texts are kept. Of whatever else a diff holds only the name is."""


def kept(value: Any, *, name: str = "", depth: int = 0) -> Any:
    """A copy for the record: texts of unknown fields hidden, long lists and texts cut.

    Numbers, truth values and null are no secrets under whatever name.
    """
    if depth > DEPTH_MAX:
        return HIDDEN
    if isinstance(value, Mapping):
        return {
            storable(str(field)[:TEXT_MAX_CHARS]): kept(inner, name=str(field), depth=depth + 1)
            for field, inner in value.items()
        }
    if isinstance(value, list | tuple):
        rows = [kept(inner, name=name, depth=depth + 1) for inner in value[:ROWS_MAX]]
        return [*rows, f"and {len(value) - ROWS_MAX} more"] if len(value) > ROWS_MAX else rows
    if isinstance(value, str):
        return _cut(storable(value)) if is_shown(name) else HIDDEN
    return value


def storable(text: str) -> str:
    """Text that every database takes: no null, no half of a character."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _cut(text: str) -> str:
    more = len(text) - TEXT_MAX_CHARS
    return f"{text[:TEXT_MAX_CHARS]} and {more} more characters" if more > 0 else text


def is_shown(name: str) -> bool:
    return name in SHOWN or is_topic_setting(name)
