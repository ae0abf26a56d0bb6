"""Groups that have just fallen silent: too short for a verdict, long enough to be looked at.

A group is STALLED or STOPPED when a partition that is behind has stood still for `Rules.quiet_s`,
and its alert fires when that has held for the rule's time: five and a half minutes after the last
commit. Whoever watches an incident sees the fact long before.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from controlplane.analytics.models import GroupVerdict
from controlplane.analytics.rules import VERDICT_STALE_S
from controlplane.analytics.selectors import sight_of
from controlplane.analytics.times import iso_ms
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.rules import Rules

SEEN_AFTER_S = 90.0
"""Beyond what usual consumers take from commit to commit, checkpoints of a minute among them."""
SEEN_UNTIL_S = Rules().quiet_s + 120.0
"""From then on alerts speak, or somebody has said by their thresholds that it is no matter."""
READ_MAX = 500
"""Groups on topics of one cluster, those that have been silent for longest."""


def quiet_groups(tenant: Tenant, scope: Scope, cluster_id: str) -> list[dict[str, Any]]:
    """{group, topic, partitions, lag_records, members, status, since, as_of}, the longest first.

    Of each group the topic on which it has been silent for longest; `since` is of its last commit
    there. None of longer than `SEEN_UNTIL_S`.
    """
    sees = sight_of(tenant, scope, cluster_id)
    fresh = timezone.now() - timedelta(seconds=VERDICT_STALE_S)
    rows = GroupVerdict.objects.filter(
        cluster_id=cluster_id,
        sampled_ms__gte=int(fresh.timestamp() * 1000),
        stuck_s__gte=SEEN_AFTER_S,
        stuck_s__lt=SEEN_UNTIL_S,
        lag_records__gt=0,
    )
    columns = ("group", "topic", "partitions", "lag_records", "members", "status")
    found: dict[str, dict[str, Any]] = {}
    ordered = rows.order_by("-stuck_s", "group", "topic")
    for *shown, stuck_s, sampled_ms in ordered.values_list(*columns, "stuck_s", "sampled_ms")[
        :READ_MAX
    ]:
        row = dict(zip(columns, shown, strict=True))
        if row["group"] in found or not sees(topic=row["topic"], group=row["group"]):
            continue
        times = {"since": iso_ms(sampled_ms - int(stuck_s * 1000)), "as_of": iso_ms(sampled_ms)}
        found[row["group"]] = {**row, **times}
    return list(found.values())
