"""The steps by which replicas leave a log directory, each read anew from the brokers.

Nothing is remembered of which replica goes where: a tick looks at what lies in the directory and
what is on its way, and begins what is missing. Of the plan it needs the directory and the brokers.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from django.utils import timezone

from controlplane.clusters.log_dir_rules import (
    FAILED,
    Directory,
    NoRoomError,
    directory,
    emptying,
    missing,
    next_moves,
    present_in,
)
from controlplane.clusters.log_dirs import HostRoom, directories_of
from controlplane.clusters.models import Broker
from controlplane.clusters.rebuild_limits import limiter
from controlplane.clusters.reports import Observed
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TP, TopicDescription
from controlplane.operations.details import broker_params, detail_of
from controlplane.operations.operations import (
    Done,
    Progress,
    StepContext,
    StepFailedError,
    StepRetryError,
    Wait,
)

RATE_KEY: Final = "replica.alter.log.dirs.io.max.bytes.per.second"
OF_ONE: Final = "DYNAMIC_BROKER_CONFIG"
AT_ONCE: Final = 20
"""Replicas of one broker that are under way at a time."""
POLL_S: Final = 1.0
STALLED_S: Final = 1_800.0
"""For so long not a byte was copied: the operation ends by its name."""
ARRIVED: Final = detail_of("remains/replicas-arrived")
LIMITS: Final = "limits"
"""In the memo: what each broker had of the limit before."""
LIMIT_IS: Final = "limit_is"
"""In the memo: the limit that every broker was last read to have; null or absent: none."""
MOVING: Final = "moving"
"""In the memo: how much there was to move, and since when it got no less."""


# -- the limit
def limit(context: StepContext, gateway: ClusterGateway) -> Done | Wait:
    brokers = limited(context)
    if not brokers or (wanted := wanted_now(context)) is None:
        return Done(detail=detail_of("directory/no-limit"))
    if (waits := limit_again(context, gateway, wanted)) is not None:
        return waits
    said = detail_of("directory/limit", limit_bytes_per_s=wanted, brokers=len(brokers))
    return Done(detail=said)


def limited(context: StepContext) -> list[int]:
    """The brokers that copy; from a directory that has failed nothing can be."""
    return [row["id"] for row in context.diff["brokers"] if row["state"] != FAILED]


def wanted_now(context: StepContext) -> int | None:
    """As it is asked for now: it may be changed while replicas move."""
    return limiter().wanted(context.operation, context.diff["bytes_per_s"])


def limit_again(context: StepContext, gateway: ClusterGateway, wanted: int | None) -> Wait | None:
    """Have the limit `wanted` stand, null for none. Null: every broker was read to have it.

    Read first, so that a killed worker's successor knows what was there; then set, then read.
    """
    memo, brokers = context.memo, limited(context)
    if not brokers or wanted == memo.get(LIMIT_IS):
        return None
    if LIMITS not in memo:
        memo[LIMITS] = _limits_on(gateway, brokers)
        return Wait(seconds=0.0, detail=detail_of("directory/limits-noted"))
    before: dict[str, str | None] = memo[LIMITS]
    values = {broker: before[str(broker)] if wanted is None else str(wanted) for broker in brokers}
    found = _limits_on(gateway, brokers)
    differing = [broker for broker in brokers if found[str(broker)] != values[broker]]
    for broker in differing:
        gateway.at(broker).alter_broker_configs(broker, {RATE_KEY: values[broker]})
    if differing:
        said = detail_of("limit/set-on-brokers", **broker_params(differing))
        return Wait(seconds=0.0, detail=said)
    memo[LIMIT_IS] = wanted
    return None


def _limits_on(gateway: ClusterGateway, brokers: Collection[int]) -> dict[str, str | None]:
    """What each broker has of its own, by its own word."""
    return {
        str(broker): next(
            (
                row.value
                for row in gateway.at(broker).broker_configs([broker], [RATE_KEY])[broker]
                if row.source == OF_ONE
            ),
            None,
        )
        for broker in brokers
    }


def lift(context: StepContext, gateway: ClusterGateway) -> Done | Wait:
    """What each broker had before; one that is away now is tried until the step's deadline."""
    before: dict[str, str | None] = context.memo.get(LIMITS, {})
    if not before:
        return Done(detail=detail_of("limit/none"))
    live = {node.id for node in gateway.describe_cluster().brokers}
    left = [int(broker) for broker in before if int(broker) not in live]
    for broker, value in before.items():
        if int(broker) in live:
            gateway.at(int(broker)).alter_broker_configs(int(broker), {RATE_KEY: value})
    if left:
        return Wait(seconds=POLL_S, detail=detail_of("directory/broker-away", broker=str(left[0])))
    context.memo.pop(LIMIT_IS, None)
    return Done(detail=detail_of("directory/limit-lifted", brokers=len(before)))


# -- the moves
def move(
    context: StepContext,
    gateway: ClusterGateway,
    rows: Iterable[Broker],
    said: dict[int, Observed],
    rooms: Mapping[str, HostRoom],
) -> Done | Wait:
    """Raises StepFailedError: `no-room`, `directory-failed`, `moves-stalled`."""
    if (waits := limit_again(context, gateway, wanted_now(context))) is not None:
        return waits
    name = context.diff["directory"]
    left = left_bytes = 0
    for row in rows:
        among = directories_of(gateway, row, said, rooms.get(row.host_id))
        source = directory(name, among)
        if source.state == FAILED:
            _require_planned_failure(context, row.broker_id, name)
            continue
        now = emptying(name, among)
        left += now.left
        left_bytes += now.left_bytes
        if now.waiting:
            begin(gateway, row.broker_id, name, among)
    progress = _progress(context, left_bytes, left)
    if not left:
        return Done(detail=detail_of("directory/empty", directory=name), progress=progress)
    _require_going_on(context, left_bytes, left)
    to_go = detail_of("directory/to-go", replicas=left)
    return Wait(seconds=POLL_S, detail=to_go, progress=progress)


def begin(gateway: ClusterGateway, broker: int, name: str, among: list[Directory]) -> None:
    """Raises StepFailedError: `no-room`; StepRetryError: the broker refuses all of them."""
    try:
        wanted = next_moves(name, among, at_once=AT_ONCE)
    except NoRoomError as error:
        raise StepFailedError(
            "no-room",
            detail_of(
                "failed/no-room",
                broker=str(broker),
                wanted_bytes=error.wanted,
                room_bytes=error.room,
            ),
            broker_id=broker,
        ) from error
    if not wanted:
        return
    refused = gateway.alter_replica_log_dirs(broker, wanted)
    if refused and len(refused) == len(wanted):
        tp, code = next(iter(sorted(refused.items())))
        raise StepRetryError(
            detail_of(
                "directory/not-moved",
                broker=str(broker),
                partition=f"{tp.topic}-{tp.partition}",
                error=code,
            )
        )


def _require_planned_failure(context: StepContext, broker: int, name: str) -> None:
    planned = {row["id"]: row["state"] for row in context.diff["brokers"]}
    if planned.get(broker) != FAILED:
        raise StepFailedError(
            "directory-failed",
            detail_of("failed/directory-failed", broker=str(broker), directory=name),
            broker_id=broker,
        )


def _progress(context: StepContext, left_bytes: int, left: int) -> Progress:
    """Logs grow while they are moved: the whole is the most that there was to do."""
    book = context.memo.setdefault(MOVING, {"total": 0, "most": 0, "least": None, "since_s": None})
    book["most"] = max(book["most"], left)
    book["total"] = max(book["total"], left_bytes)
    return Progress(done=book["total"] - left_bytes, total=book["total"], unit="bytes")


def _require_going_on(context: StepContext, left_bytes: int, left: int) -> None:
    book, now_s = context.memo[MOVING], timezone.now().timestamp()
    mark = [left, left_bytes]
    if book["least"] is None or mark < book["least"]:
        book["least"], book["since_s"] = mark, now_s
    elif now_s - book["since_s"] > STALLED_S:
        raise StepFailedError(
            "moves-stalled",
            detail_of("failed/moves-stalled", minutes=round(STALLED_S / 60), replicas=left),
        )


def hold(
    context: StepContext, gateway: ClusterGateway, rows: Iterable[Broker], said: dict[int, Observed]
) -> Done | Wait:
    """What is under way stays where it was: naming the place of a replica ends its move."""
    name, ended, left = context.diff["directory"], 0, 0
    for row in rows:
        among = directories_of(gateway, row, said)
        source = directory(name, among)
        now = emptying(name, among)
        moving = now.under_way
        left += now.left
        if moving and source.state != FAILED:
            gateway.alter_replica_log_dirs(row.broker_id, dict.fromkeys(moving, source.path))
            ended += len(moving)
    arrived = context.memo.get(MOVING, {}).get("most", 0) - left
    return Done(
        detail=detail_of("directory/moves-ended", moves=ended),
        remains=(ARRIVED,) if arrived > 0 else (),
    )


# -- what has failed
def require_elsewhere(gateway: ClusterGateway, broker: int, among: list[Directory]) -> None:
    """No live broker counts it as in sync of what it has lost, and somebody else has each of it.

    Raises:
        StepFailedError: `only-copy`, `still-in-sync`.
        GatewayError: a live broker does not say.
    """
    present = present_in(among)
    names = sorted({tp.topic for tp in missing(broker, gateway.list_topics(), present).all})
    for node in gateway.describe_cluster().brokers:
        if not names:
            return
        seen = gateway.at(node.id).describe_topics(names).values()
        found = missing(broker, seen, present)
        if found.only_here:
            tp = min(found.only_here)
            raise StepFailedError(
                "only-copy",
                detail_of(
                    "failed/only-copy",
                    partition=f"{tp.topic}-{tp.partition}",
                    broker=str(node.id),
                ),
            )
        if found.counted:
            tp = min(found.counted)
            raise StepFailedError(
                "still-in-sync",
                detail_of(
                    "failed/still-in-sync",
                    broker=str(node.id),
                    other=str(broker),
                    partition=f"{tp.topic}-{tp.partition}",
                ),
            )


def leaders_bytes(
    gateway: ClusterGateway, topics: Iterable[TopicDescription], wanted: Collection[TP]
) -> dict[TP, int] | None:
    """How large the leaders' replicas of these partitions are; null when one cannot be asked."""
    leaders: dict[int, set[TP]] = {}
    for topic in topics:
        for part in topic.partitions:
            tp = TP(topic.name, part.partition)
            if tp in wanted:
                if part.leader is None:
                    return None
                leaders.setdefault(part.leader, set()).add(tp)
    sizes: dict[TP, int] = {}
    try:
        found = gateway.log_directories(sorted(leaders)) if leaders else []
    except GatewayError:
        return None
    for one in found:
        for row in one.replicas:
            if row.tp in leaders[one.broker] and not row.is_future:
                sizes[row.tp] = row.size_bytes
    return sizes if len(sizes) == len(wanted) else None
