"""Warnings about topic changes, and what a topic's configuration differs in. Pure."""

from collections.abc import Mapping

from controlplane.operations.kinds import warning

DAY_MS = 86_400_000


def config_changes(
    before: Mapping[str, str | None], wanted: Mapping[str, str | None]
) -> dict[str, str | None]:
    """The wanted settings that differ; None means back to the default."""
    return {key: value for key, value in wanted.items() if before.get(key) != value}


def create_warnings(
    *, replication_factor: int, configs: Mapping[str, str], brokers: int
) -> list[dict[str, str]]:
    found = []
    if replication_factor < 3 <= brokers:
        found.append(
            warning(
                "low-replication",
                f"Replication factor {replication_factor}: losing"
                f" {replication_factor} brokers can lose data.",
            )
        )
    min_isr = _number(configs.get("min.insync.replicas"))
    if min_isr is not None and min_isr >= replication_factor > 1:
        found.append(_no_slack(min_isr, replication_factor))
    if min_isr is not None and min_isr > replication_factor:
        found.append(
            warning("unwritable", "acks=all can never succeed with these settings.", "danger")
        )
    return found


def update_warnings(
    *,
    before: Mapping[str, str | None],
    after: Mapping[str, str | None],
    replication_factor: int,
) -> list[dict[str, str]]:
    """Transitions that lose data or stop writes.

    `before` and `after` are effective values (defaults applied) of the changed keys.
    """
    found = []
    old_policy, new_policy = before.get("cleanup.policy"), after.get("cleanup.policy")
    if old_policy and new_policy and "compact" in old_policy and "compact" not in new_policy:
        found.append(
            warning(
                "compact-to-delete",
                "Leaving compaction: records older than the retention are deleted, the last"
                " value of a key too.",
                "danger",
            )
        )
    if old_policy and new_policy and "compact" in new_policy and "compact" not in old_policy:
        found.append(
            warning("delete-to-compact", "Records without a key will be refused.", "warning")
        )
    for key, unit in (("retention.ms", "ms"), ("retention.bytes", "bytes")):
        old, new = _number(before.get(key)), _number(after.get(key))
        if new is not None and new >= 0 and (old is None or old < 0 or new < old):
            found.append(
                warning(
                    "retention-cut",
                    f"{key} falls to {new} {unit}: what is beyond it is deleted for good.",
                    "danger",
                )
            )
    min_isr = _number(after.get("min.insync.replicas"))
    if min_isr is not None and min_isr >= replication_factor > 1:
        found.append(_no_slack(min_isr, replication_factor))
    return found


def _no_slack(min_isr: int, replication_factor: int) -> dict[str, str]:
    return warning(
        "no-slack",
        f"min.insync.replicas {min_isr} of {replication_factor} replicas: one broker down stops"
        " every acks=all write.",
        "danger",
    )


def partitions_warnings(*, keyed_hint: bool, groups: int) -> list[dict[str, str]]:
    found = [
        warning(
            "keys-move",
            "A key may map to another partition from now on: order per key is broken at the"
            " change." + (" This topic is compacted, so it is keyed." if keyed_hint else ""),
            "danger" if keyed_hint else "warning",
        ),
        warning("no-way-back", "Partitions can be added, never removed.", "info"),
    ]
    if groups:
        found.append(warning("rebalance", f"{groups} consumer groups will rebalance.", "info"))
    return found


def _number(text: str | None) -> int | None:
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None
