"""Every group of one cluster, judged anew with each sample of the collector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from controlplane.analytics.verdicts.groups import Judged, Verdict, facts_of_group, judge
from controlplane.analytics.verdicts.intake import is_dense
from controlplane.analytics.verdicts.logs import TopicLogs
from controlplane.analytics.verdicts.trails import GroupTrail
from controlplane.analytics.verdicts.wide import Pair, partitions_of
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.telemetry import KIND_TOPIC


class Evaluator:
    """Keeps what the formulas look back on; fed with telemetry records, oldest sample first.

    Memory is bounded by the cluster: about 1.1 KiB a partition and group, 3.6 KiB a partition.
    """

    def __init__(self, rules: Rules | None = None, *, history_is_whole: bool = False) -> None:
        """`history_is_whole`: nothing was sampled before what is fed, so that a record that is
        older than that is as old as its log's first one may be.
        """
        self._rules = rules or Rules()
        self._history_is_whole = history_is_whole
        self._window_ms = self._rules.window_s * 1000
        self._logs: dict[str, TopicLogs] = {}
        self._trails: dict[tuple[str, str], GroupTrail] = {}
        self._present: set[tuple[str, str]] = set()
        self.last_ts_ms: int | None = None

    def feed(self, records: Iterable[Mapping[str, Any]]) -> None:
        """All records of one sample. A topic or group that is not among them, or whose partitions
        are not numbered as Kafka's are, is not judged, and forgotten once its trend has passed.
        """
        found = [record for record in records if is_dense(record)]
        if not found:
            return
        ts_ms = max(record["ts_ms"] for record in found)
        if self.last_ts_ms is not None and ts_ms < self.last_ts_ms:
            self._set_back(ts_ms)
        self.last_ts_ms = ts_ms
        self._present = set()
        topics = set()
        for record in found:
            if record["kind"] == KIND_TOPIC:
                topics.add(record["topic"])
                self._logs_of(record).see(record)
            else:
                self._present.add((record["group"], record["topic"]))
                self._trail_of(record).see(record)
        self._forget(topics, ts_ms)

    def verdicts(self) -> list[Verdict]:
        """Of every group and topic of the last sample."""
        pairs = [self._pair(group, topic) for group, topic in sorted(self._present)]
        rows = []
        for pair, found in zip(pairs, partitions_of(pairs, self._rules), strict=True):
            facts = facts_of_group(pair.trail, found, self._rules)
            rows.append(Judged(pair.group, pair.topic, pair.trail.stands[-1], found, facts))
        for logs in self._logs.values():
            logs.forget_samples()
        return judge(rows, self._rules)

    def _pair(self, group: str, topic: str) -> Pair:
        trail = self._trails[group, topic]
        logs = self._logs.get(topic)
        if logs is not None and logs.topic_id != trail.topic_id:
            logs = None
        whole = self._history_is_whole or (
            logs is not None
            and logs.span_ms() >= self._rules.offset_samples_lookback_s * 1000 * 0.95
        )
        return Pair(group, topic, trail, logs, whole)

    def _logs_of(self, record: Mapping[str, Any]) -> TopicLogs:
        topic, topic_id = record["topic"], record.get("topic_id") or ""
        logs = self._logs.get(topic)
        if logs is None or logs.topic_id != topic_id:
            lookback_ms = self._rules.offset_samples_lookback_s * 1000
            logs = TopicLogs(topic_id, window_ms=self._window_ms, lookback_ms=lookback_ms)
            self._logs[topic] = logs
        return logs

    def _trail_of(self, record: Mapping[str, Any]) -> GroupTrail:
        key, topic_id = (record["group"], record["topic"]), record.get("topic_id") or ""
        trail = self._trails.get(key)
        if trail is None or trail.topic_id != topic_id:
            trend_ms = self._rules.trend_s * 1000
            trail = GroupTrail(topic_id, window_ms=self._window_ms, trend_ms=trend_ms)
            self._trails[key] = trail
        return trail

    def _set_back(self, ts_ms: int) -> None:
        window = ts_ms - ts_ms % self._window_ms
        for logs in self._logs.values():
            logs.forget_after(window)
        for trail in self._trails.values():
            trail.forget_after(window)

    def _forget(self, topics: set[str], ts_ms: int) -> None:
        oldest = ts_ms - ts_ms % self._window_ms - self._rules.trend_s * 1000
        for key in [key for key in self._trails if key not in self._present]:
            stands = self._trails[key].stands
            if not stands or stands[-1].window < oldest:
                del self._trails[key]
        for topic in [topic for topic in self._logs if topic not in topics]:
            now = self._logs[topic].now
            if now is None or now["window"] < oldest:
                del self._logs[topic]
