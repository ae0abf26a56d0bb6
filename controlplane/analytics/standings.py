"""The newest verdicts on groups, for the app of groups, which says in a sentence what they mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from controlplane.analytics.conf import conf
from controlplane.analytics.last_gold import newest_lag
from controlplane.analytics.latest import Latest
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from controlplane.analytics.rules import VERDICT_STALE_S, result_stale_s
from controlplane.groups.diagnosis import Standing
from controlplane.groups.sources import Facts, Series
from spark_analytics.contracts.statuses import Risk, Status


class StoredJudgements:
    """Of the collector, or of Spark where that is newer or alone knows."""

    def of(self, cluster_id: str, groups: Collection[str]) -> Mapping[str, list[Standing]]:
        return standings_of(Latest(cluster_id, groups, newest_lag(cluster_id)))

    def partitions_of(self, cluster_id: str, groups: Collection[str]) -> Mapping[Series, Facts]:
        rows = GroupVerdict.objects.filter(cluster_id=cluster_id, group__in=sorted(groups))
        kept = rows.exclude(by_partition=None).values_list("group", "topic", "by_partition")
        return {(group, topic): facts or {} for group, topic, facts in kept}


def standings_of(latest: Latest) -> Mapping[str, list[Standing]]:
    """By group, as `Judgements.of` has them; for those who have read the rows already."""
    by_key = {(row.group, row.topic): row for row in latest.expiries}
    found: dict[str, list[Standing]] = {}
    for lag in latest.lags:
        standing = _standing(lag, by_key.get((lag.group, lag.topic)))
        found.setdefault(lag.group, []).append(standing)
    return found


def _standing(
    lag: GoldGroupLag | GroupVerdict, expiry: GoldGroupExpiry | GroupVerdict | None
) -> Standing:
    is_live = isinstance(lag, GroupVerdict)
    stale_s = VERDICT_STALE_S if is_live else result_stale_s(conf().interval_s, conf().deadline_s)
    return Standing(
        topic=lag.topic,
        status=Status(lag.status),
        risk=_risk(expiry),
        sampled_ms=lag.sampled_ms,
        stale_after_ms=lag.sampled_ms + int(stale_s * 1000),
        partitions=lag.partitions,
        is_live=is_live,
        lag_records=lag.lag_records,
        lag_s=lag.lag_seconds,
        lag_s_at_least=lag.lag_seconds_at_least,
        produce_records_per_s=lag.produce_records_per_s,
        consume_records_per_s=lag.consume_records_per_s,
        eta_s=lag.eta_seconds,
        lost_records=lag.lost_records,
        expires_in_s=None if expiry is None else expiry.oldest_unread_expires_in_s,
        first_loss_in_s=None if expiry is None else expiry.first_loss_in_s,
    )


def _risk(expiry: GoldGroupExpiry | GroupVerdict | None) -> Risk:
    if expiry is None:
        return Risk.UNKNOWN
    return Risk(expiry.risk if isinstance(expiry, GroupVerdict) else expiry.status)
