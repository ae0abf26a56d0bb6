"""Observing: read a cluster's sections, write what differs. One pass a cluster at a time."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from controlplane.common import leases
from controlplane.common.lease_keeper import HeldLease, LeaseLostError, keeper
from controlplane.common.problems import Problem
from controlplane.common.times import iso
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import bounded, is_over
from controlplane.gateway.port import ClusterGateway
from controlplane.observed import changes, listeners, rules
from controlplane.observed.changes import Changes, Topic
from controlplane.observed.models import ObservedCluster, ObservedRow
from controlplane.observed.readers import AWAY, REFUSED, Reader
from controlplane.observed.reading import Answer, Failed, Found, SectionReader, in_batches
from controlplane.observed.revisions import REVISION, new_revision, revised, touched
from controlplane.observed.rows import Content
from controlplane.observed.sections import BROKERS, KEY_MAX, SECTIONS, TOPICS
from controlplane.observed.selectors import (
    MODELS,
    Section,
    kept_settings,
    row_of,
    section,
    topic_defaults,
)
from controlplane.observed.sources import source

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=5)
"""Renewed at each third: how long a cluster is not looked at when its worker is killed."""
ROWS_A_STATEMENT = 1_000
FIRST_LOOK_WAIT_S = 8.0
"""How long a question waits for the pass that somebody else has begun."""
ASK_AGAIN_S = 5.0
"""How soon a question may try a cluster again that has not answered its first observation."""
POLL_S = 0.05
Sections = dict[str, Any]


class HurriedError(Exception):
    """Whoever waits for this pass waits no longer. It was cut short, so it says nothing."""


def observe(cluster_id: str) -> bool:
    """One pass over a cluster. False when another one is at it, or took over meanwhile.

    A pass is noted for everybody, so one that somebody's patience cut short is not: the next round
    looks again, with the time that it takes.
    """
    gateway = source().gateway(cluster_id)
    ObservedCluster.objects.get_or_create(cluster_id=cluster_id)
    rows = ObservedCluster.objects.filter(pk=cluster_id)
    lease = keeper().claim(rows, cluster_id, LEASE, skips_locked=True)
    if lease is None:
        return False
    try:
        _pass(cluster_id, lease, gateway)
    except LeaseLostError as lost:
        log.warning("what was read of %s is not kept: %s", cluster_id, lost)
        leases.release(rows, lease.token)
        return False
    except HurriedError:
        leases.release(rows, lease.token, due_at=timezone.now())
        return False
    except Exception:
        # A bug must not make the rounds start the same pass at once again.
        pause = timedelta(seconds=rules.BACKOFF_MAX_S)
        leases.release(rows, lease.token, due_at=timezone.now() + pause)
        raise
    finally:
        lease.drop()
    return True


def _pass(cluster_id: str, lease: HeldLease, gateway: ClusterGateway) -> None:
    """Read, then write and give the lease back, in one transaction.

    Raises:
        LeaseLostError: another pass took over, or the cluster is gone; nothing is written.
    """
    started_s = time.monotonic()
    reader = SectionReader(
        gateway,
        pause=lease.check,
        defaults=topic_defaults(cluster_id),
        kept_settings=partial(kept_settings, cluster_id),
    )
    try:
        description = reader.description
        answers = reader.answers(SECTIONS)
    except GatewayError as error:
        description, answers = None, dict.fromkeys(SECTIONS, Failed.of(error))
    placed = set(source().desired_brokers(cluster_id)) if description is not None else set()
    if is_over():
        raise HurriedError
    lease.rest()
    with transaction.atomic():
        row = _held(cluster_id, lease)
        news, was, seen_at = Changes(), (row.health, row.controller_id), _seen_at(row)
        for name, answer in answers.items():
            _store(row, name, answer, reader.read_at, news)
        if TOPICS in answers and isinstance(answers[TOPICS], Found):
            if row.topic_defaults != (defaults := dict(reader.defaults)):
                row.sections[TOPICS][REVISION] = new_revision()
            row.topic_defaults = defaults
        if description is None:
            row.failures += 1
            row.health, row.reasons = rules.unreachable(_first_reason(answers))
        else:
            row.failures = 0
            row.controller_id = description.controller_id
            _judge(row, reader, placed)
        if seen_at is not None:
            news.add(
                *changes.of_cluster(
                    health=(was[0], row.health), controllers=(was[1], row.controller_id)
                )
            )
        listeners.tell(cluster_id, news, not_before=seen_at, at=reader.read_at)
        took_s = time.monotonic() - started_s
        pause_s = rules.next_pass_in_s(
            settings.OBSERVE_INTERVAL_S,
            took_s=took_s,
            failures=row.failures,
            silent_s=reader.silent_s,
        )
        row.due_at = timezone.now() + timedelta(seconds=pause_s)
        row.took_ms = round(took_s * 1000)
        row.drop_lease()
        row.save(
            update_fields=[
                "health",
                "reasons",
                "controller_id",
                "sections",
                "topic_defaults",
                "summary",
                "due_at",
                "failures",
                "took_ms",
                "lease_token",
                "lease_expires_at",
            ]
        )


def _judge(row: ObservedCluster, reader: SectionReader, placed: set[int]) -> None:
    """The cluster's health and figures, by its topics where they could be read."""
    wanted = placed
    figures = reader.figures()
    if figures is not None:
        row.summary = figures.summary
        wanted = placed | figures.holding
    row.health, row.reasons = rules.health(
        controller_id=row.controller_id,
        live={node.id for node in reader.description.brokers},
        wanted=wanted,
        placed=placed,
        under_replicated=figures.summary["under_replicated"] if figures else None,
        offline=figures.summary["offline"] if figures else None,
    )


def _first_reason(answers: dict[str, Answer]) -> str:
    return next((answer.reason for answer in answers.values()), "")


def _held(cluster_id: str, lease: HeldLease) -> ObservedCluster:
    """Its row, locked: from here on nobody takes over, however long the writing takes."""
    rows = ObservedCluster.objects.select_for_update()
    row = rows.filter(pk=cluster_id, lease_token=lease.token).first()
    if row is None:
        raise LeaseLostError("another pass took over")
    if cluster_id not in source().present([cluster_id]):
        raise LeaseLostError("it is gone")
    return row


def _seen_at(row: ObservedCluster) -> datetime | None:
    """When the brokers were last read; the first reading of a cluster is no news."""
    as_of = row.sections.get(BROKERS, {}).get("as_of")
    return datetime.fromisoformat(as_of) if as_of else None


def _store(
    row: ObservedCluster, name: str, answer: Answer, read_at: datetime, news: Changes
) -> None:
    """Write a section's difference, and add it to `news`. The caller holds the cluster's row."""
    before = row.sections.get(name, {})
    kept_as_of = before.get("as_of")
    if isinstance(answer, Failed):
        now = _noted(kept_as_of, read_at, answer)
        row.sections[name] = revised(before, now, has_changed=False, read_at=read_at)
        return
    has_changed = _write(row.pk, name, answer, read_at=read_at, kept_as_of=kept_as_of, news=news)
    now = _noted(iso(read_at), read_at, answer)
    row.sections[name] = revised(before, now, has_changed=has_changed, read_at=read_at)


def _noted(as_of: str | None, tried_at: datetime, answer: Answer) -> Sections:
    failed = answer if isinstance(answer, Failed) else Failed("", answer.reason, True)
    return {
        "as_of": as_of,
        "tried_at": iso(tried_at),
        "reason": failed.reason,
        "code": failed.code,
        "retriable": failed.retriable,
        "missing": isinstance(answer, Found) and bool(answer.missing),
    }


def _write(
    cluster_id: str,
    name: str,
    found: Found,
    *,
    read_at: datetime,
    kept_as_of: str | None,
    news: Changes,
) -> bool:
    """Whether any row differs now."""
    model = MODELS[name]
    rows = model.objects.filter(cluster_id=cluster_id)  # type: ignore[attr-defined] # concrete
    seen = {
        key: rules.Seen(mark, unread, touched_at, gone)
        for key, mark, unread, touched_at, gone in rows.values_list(
            "key", "mark", "unread", "touched_at", "gone"
        ).iterator(chunk_size=10_000)
    }
    marks = {key: each.mark for key, each in found.contents.items()}
    change = rules.difference(seen, marks, missing_reason=found.missing, read_at=read_at)
    if kept_as_of is not None:
        for batch in in_batches(sorted(change.write | change.remove), ROWS_A_STATEMENT):
            _compare(cluster_id, name, batch, found.contents, news)
    upsert(
        model,
        (
            _row(model, cluster_id, key, found.contents[key], mark=marks[key])
            for key in change.write
        ),
    )
    for batch in in_batches(sorted(change.remove), ROWS_A_STATEMENT):
        rows.filter(key__in=batch).delete()
    for batch in in_batches(sorted(change.keep_unread), ROWS_A_STATEMENT):
        # Its time stays that of the pass that read it; the reason may change meanwhile.
        rows.filter(key__in=batch, as_of=None).update(
            as_of=datetime.fromisoformat(kept_as_of) if kept_as_of else read_at
        )
        rows.filter(key__in=batch).update(unread=found.missing)
    return bool(change.write or change.remove or change.keep_unread)


def _compare(
    cluster_id: str,
    name: str,
    keys: Collection[str],
    contents: Mapping[str, Content],
    news: Changes,
) -> None:
    """Add what became of these rows, which are not yet written, to `news`."""
    if name not in {BROKERS, TOPICS}:
        return
    model = MODELS[name]
    rows = model.objects.filter(cluster_id=cluster_id, key__in=keys, gone=False)  # type: ignore[attr-defined] # concrete
    old = {key: Topic(row, detail) for key, row, detail in rows.values_list("key", "row", "detail")}
    for key in keys:
        before, read = old.get(key), contents.get(key)
        after = Topic(read.row, read.detail) if read is not None else None
        if name == TOPICS:
            news.add(*changes.of_topic(key, before, after))
        else:
            news.add(
                *changes.of_broker(before.row if before else None, after.row if after else None)
            )


def _row(
    model: type[ObservedRow],
    cluster_id: str,
    key: str,
    content: Content | None,
    *,
    mark: str,
    touched_at: datetime | None = None,
) -> ObservedRow:
    """`content` is null for what was touched and is no more."""
    return model(
        cluster_id=cluster_id,
        key=key,
        row=content.row if content else {},
        detail=content.detail if content else {},
        mark=mark,
        touched_at=touched_at,
        gone=content is None,
    )


def upsert(model: type[ObservedRow], rows: Iterable[ObservedRow]) -> None:
    """Write rows anew, in statements of `ROWS_A_STATEMENT` rows."""
    found = list(rows)
    if found:
        model.objects.bulk_create(  # type: ignore[attr-defined] # a concrete model
            found,
            batch_size=ROWS_A_STATEMENT,
            update_conflicts=True,
            unique_fields=["cluster", "key"],
            update_fields=["row", "detail", "mark", "as_of", "unread", "touched_at", "gone"],
        )


# -- what an operation has changed ------------------------------------------------------------
def observe_touched(
    cluster_id: str,
    gateway: ClusterGateway,
    named: Mapping[str, Collection[str]],
    *,
    note_missing: bool = True,
) -> None:
    """Read what has these keys, by section, and nothing else, so that lists show it.

    A pass that began before leaves what is written here, with `note_missing` also that something
    is not there. One statement, and one a section; a cluster that nobody has observed yet gets no
    rows, as whoever asks first reads all of it.

    Raises:
        GatewayError: the cluster does not say; nothing is written then.
    """
    reader = SectionReader(gateway, kept_settings=partial(kept_settings, cluster_id))
    readings = {name: reader.named(name, keys) for name, keys in named.items() if keys}
    with transaction.atomic():
        row = ObservedCluster.objects.select_for_update().filter(pk=cluster_id).first()
        if row is None:
            return
        reader.defaults = row.topic_defaults
        news, has_written = Changes(), False
        for name, contents in readings.items():
            found = contents()
            model = MODELS[name]
            keys = sorted({*named[name]}) if note_missing else sorted(found)
            if row.sections.get(name, {}).get("as_of") is not None:
                for batch in in_batches(keys, ROWS_A_STATEMENT):
                    _compare(cluster_id, name, batch, found, news)
            upsert(
                model,
                (
                    _row(
                        model,
                        cluster_id,
                        key,
                        content := found.get(key),
                        mark=content.mark if content else "",
                        touched_at=reader.read_at,
                    )
                    for key in keys
                ),
            )
            if keys and name in row.sections:
                row.sections[name] = touched(row.sections[name], reader.read_at)
                has_written = True
        if has_written:
            row.save(update_fields=["sections"])
        listeners.tell(cluster_id, news, not_before=_seen_at(row), at=reader.read_at)


# -- first questions --------------------------------------------------------------------------
def observed_section(reader: Reader, name: str) -> Section:
    """How a section was last read; one that never was is read now.

    Raises:
        Problem: it cannot be read, is not read in time, or the reader does not see it.
    """
    found = section(reader, name)
    if found.as_of is None and _may_ask(found) and not is_over():
        _first_look(reader, name)
        found = section(reader, name)
    if found.as_of is None:
        raise found.problem()
    return found


def observed_row(reader: Reader, name: str, key: str) -> tuple[ObservedRow, Section] | None:
    """One topic or group and its section; one that is not known is looked for at the brokers.

    What the reader does not see is not there, whether it is or not.

    Raises:
        Problem: nothing is known of it, and the cluster cannot be asked.
    """
    if not reader.covers(name, key):
        return None
    at = observed_section(reader, name)
    row = row_of(reader, name, key)
    if row is None and len(key) <= KEY_MAX:
        try:
            observe_touched(
                reader.cluster_id,
                source().gateway(reader.cluster_id),
                {name: [key]},
                note_missing=False,
            )
        except GatewayError as error:
            raise _not_known(reader, at, error) from error
        row = row_of(reader, name, key)
    return None if row is None else (row, at)


def _not_known(reader: Reader, at: Section, error: GatewayError) -> Problem:
    """Of a name that cannot be asked for: what was known of it, and as of when."""
    found = _for_reader(reader, error).as_problem()
    if error.retriable and at.as_of is not None:
        then = f"It was not there when this was last read, at {iso(at.as_of)}."
        found.detail = f"{then} {found.detail}"
    return found


def _for_reader(reader: Reader, error: GatewayError) -> GatewayError:
    """A group's own topics were asked for, too: what a broker said of them may name others'."""
    if reader.sees_whole:
        return error
    text = AWAY if error.retriable else REFUSED
    return GatewayError(error.code, text, retriable=error.retriable)


def _may_ask(found: Section) -> bool:
    return found.tried_at is None or timezone.now() - found.tried_at > timedelta(
        seconds=ASK_AGAIN_S
    )


def _first_look(reader: Reader, name: str) -> None:
    """Read it here, or wait for whoever is reading the cluster already."""
    deadline_s = time.monotonic() + bounded(FIRST_LOOK_WAIT_S)
    while time.monotonic() < deadline_s:
        if observe(reader.cluster_id) or section(reader, name).as_of is not None:
            return
        time.sleep(POLL_S)


# -- the rounds -------------------------------------------------------------------------------
def due(send: Callable[[str], None]) -> int:
    """Ask for a pass over every cluster that is due, as far as there are free hands; how many."""
    _remove_gone()
    now = timezone.now()
    serving = set(source().serving())
    known = set(ObservedCluster.objects.values_list("pk", flat=True))
    fresh = [ObservedCluster(cluster_id=each, due_at=now) for each in sorted(serving - known)]
    ObservedCluster.objects.bulk_create(fresh, ignore_conflicts=True)
    busy = ObservedCluster.objects.exclude(leases.free()).count()
    hands = max(settings.OBSERVERS_MAX - busy, 0)
    rows = ObservedCluster.objects.filter(leases.free(), pk__in=serving, due_at__lte=now)
    asked = list(rows.order_by("due_at").values_list("pk", flat=True)[:hands])
    for cluster_id in asked:
        send(cluster_id)
    return len(asked)


def soon(cluster_id: str) -> None:
    """Let the next round look at the cluster, whatever its turn."""
    ObservedCluster.objects.filter(pk=cluster_id).update(due_at=timezone.now())


def _remove_gone() -> None:
    """The rows of clusters that are let go or deleted; nobody reaches them any more."""
    known = set(ObservedCluster.objects.values_list("pk", flat=True))
    for cluster_id in sorted(known - set(source().present(known))):
        for model in MODELS.values():
            model.objects.filter(cluster_id=cluster_id).delete()  # type: ignore[attr-defined] # concrete
        ObservedCluster.objects.filter(pk=cluster_id).delete()
