"""What is produced and consumed on a group's topics, with the time that retention leaves."""

from __future__ import annotations

from typing import Any

from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag
from controlplane.analytics.selectors import SPAN_DEFAULT_S, answer_of, sight_of, thinned
from controlplane.analytics.times import iso_ms
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def pace_series(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    group: str,
    *,
    topic: str | None = None,
    from_ms: int | None = None,
    to_ms: int | None = None,
) -> dict[str, Any]:
    """{as_of, stale_after, run_id, data}: what was produced and consumed on a group's topics, and
    in what time the first unread record of that moment would have expired; ascending in time.

    At most `POINTS_MAX` points a topic, of the range that `lag_series` takes.
    """
    sees = sight_of(tenant, scope, cluster_id)
    newest = GoldGroupLag.objects.filter(cluster_id=cluster_id).order_by("-ts_ms").first()
    if newest is None:
        return answer_of(None, [])
    end_ms = to_ms if to_ms is not None else newest.sampled_ms + 1
    begin_ms = from_ms if from_ms is not None else end_ms - SPAN_DEFAULT_S * 1000
    wanted = {"cluster_id": cluster_id, "group": group} | (
        {} if topic is None else {"topic": topic}
    )
    rows = thinned(GoldGroupLag.objects.filter(**wanted), begin_ms, end_ms)
    seen = [row for row in rows if sees(topic=row.topic, group=group)]
    windows = sorted({row.ts_ms for row in seen})
    expiries = GoldGroupExpiry.objects.filter(**wanted, ts_ms__in=windows)
    expires_s = {
        (of, ts_ms): seconds
        for of, ts_ms, seconds in expiries.values_list(
            "topic", "ts_ms", "oldest_unread_expires_in_s"
        )
    }
    data = [
        {
            "ts": iso_ms(row.sampled_ms),
            "topic": row.topic,
            "lag_records": row.lag_records,
            "produce_records_per_s": row.produce_records_per_s,
            "consume_records_per_s": row.consume_records_per_s,
            "oldest_unread_expires_in_s": expires_s.get((row.topic, row.ts_ms)),
        }
        for row in seen
    ]
    return answer_of(newest, data)
