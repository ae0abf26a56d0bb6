"""Fetch (1), versions 0-17: read batches from a leader, or from a follower for consumers (v11+).

Behaviour: consumers need Read on the topic and see up to the high watermark, or the last stable
offset under read_committed; replicas need ClusterAction, see up to the log end, and their fetch
offset acknowledges everything before it. Whole batches are sent, at least one even if it is larger
than every limit (KIP-74). With less than `min_bytes` the request is parked until an append, the
watermark, a change of leader, or its deadline; not where only a limit or a segment's end keeps more
from being sent. In a compacted log a consumer's answer begins with a record, if one is there to be
read, whatever batches without records lie before it; replicas get every batch.
A follower that is not in sync gets nothing of throttled partitions while the leader's replication
quota is used up (KIP-73); they do not count towards `min_bytes`.
A consumer that has used up its quota is answered without a partition, and with how long it is not
read from (KIP-219); an answer is never larger than what its quota allows in one window.
In a fetch session (KIP-227) a request adds to what the session asks for, and an answer leaves out
partitions of which there is nothing new. A follower's partitions that are caught up become idle:
they are not even looked at until something happens to them.
A consumer that names its rack (v11+) is sent to an in-sync follower there, if this leader is set up
so and lies on another rack (KIP-392).
Version notes: 0-3 get message sets of the formats before the batch (`old_fetch`), 7 has sessions,
9 fences by leader epoch, 12 answers a diverging epoch (KIP-595) and hints at the leader, 13 names
topics by id, 15 moves the replica id into a tag, 16 adds leaders' endpoints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.handlers import fetch_route, old_fetch
from dataplane.handlers.delayed_fetch import DelayedFetch, refuse_all
from dataplane.handlers.fetch_partitions import FetchPartitions
from dataplane.model.errors import KafkaError
from dataplane.wire.fetch_codec import parse_fetch

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

BATCHES_FROM = 4
ZSTD_FROM = 10


def handle_frame(context: RequestContext, frame: memoryview, position: int) -> Any:
    version = context.header.api_version
    if version < BATCHES_FROM:
        return old_fetch.handle_frame(context, frame, position)
    request = parse_fetch(version, frame, position)
    partitions = FetchPartitions(context, request)
    sessions = context.broker.replica_manager.fetch_sessions
    try:
        session = sessions.open(request, version, may_begin=partitions.may_replicate)
    except KafkaError as error:
        return refuse_all(context, error)
    asked = session.asked
    if not partitions.may_replicate and session.session is not None:
        asked = session.session.asked()  # what is idle is refused as well
    partitions.resolve(asked)
    if version < ZSTD_FROM:
        partitions.refuse_zstd()
    entries = partitions.entries
    only = entries[0].partition if len(entries) == 1 else None
    fetch_route.note(context, frame, request, only)
    return DelayedFetch(context, session, partitions).start()
