"""`Idempotency-Key`: a request is carried out once per key, and its answer given again.

After draft-ietf-httpapi-idempotency-key-header. A key belongs to one caller in one tenant; with
another address or body it is refused with 422, while its first request is under way with 409. The
key is reserved before the work and released when the work is refused: nothing was done then, and
the request may be put right and sent again with the same key.

The reservation is a lease, and its token the fence: work of one transaction is committed together
with its answer, or neither is. So neither a killed process nor one that was taken for dead leaves
work done twice.

Answers are sealed at rest, since some hold a secret. Those are kept for minutes only; afterwards
the key says that the request was carried out, and never carries it out again.
"""

import contextlib
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from controlplane.common import leases
from controlplane.common.crypto import keyring
from controlplane.common.hashing import content_hash
from controlplane.common.keyring import SecretUnreadableError
from controlplane.common.metrics import IDEMPOTENCY_KEYS
from controlplane.common.models import IdempotencyKey
from controlplane.common.problems import Conflict, Gone, Problem, TooManyRequests

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT = timedelta(hours=24)
SECRET_KEPT = timedelta(minutes=15)
"""An answer with a secret: as long as a client that lost it takes to ask again."""
RESERVED = timedelta(minutes=2)
"""How long a request that was killed keeps its key from the next one."""
KEY_CHARS_MAX = 200
KEYS_LIVE_MAX = 10_000
"""Of one caller."""
ANSWER_MAX_BYTES = 1_000_000
"""Compressed; a larger answer is not kept, and its key says so."""
HEADERS_KEPT = ("Location", "Cache-Control")

_PLAIN = re.compile(r"[\x20-\x7e]+")
_QUOTED = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose a key is. Who does not belong to the tenant has `tenant_id` ""."""

    tenant_id: str
    principal: str


def key_of(request: Request) -> str | None:
    """The request's key, quoted as the draft has it or plain; None without one.

    Raises Problem: it is empty, too long, or not printable ASCII.
    """
    given = request.headers.get(HEADER)
    if given is None:
        return None
    quoted = _QUOTED.fullmatch(given)
    key = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else given
    if not _PLAIN.fullmatch(key) or not key.strip() or len(key) > KEY_CHARS_MAX:
        raise Problem(
            f"An Idempotency-Key is 1 to {KEY_CHARS_MAX} printable ASCII characters.",
            code="idempotency-key",
        )
    return key


def carry_out_once(
    request: Request,
    key: str,
    caller: Caller,
    work: Callable[[], Response],
    *,
    in_one_transaction: bool,
    shows_secret: bool,
) -> Response:
    """What `work` answers, or what it answered before.

    Raises:
        Problem: the key was used with another request, its request is under way, its answer is
            not kept any more, the caller has too many keys; or what `work` raises.
    """
    fingerprint = content_hash([request.method, request.path, request.data])
    row, token = _reserve(key, caller, fingerprint)
    if token is None:
        return _again(row)
    mine = IdempotencyKey.objects.filter(pk=row.pk, lease_token=token)
    try:
        if not in_one_transaction:
            response = work()
        else:
            with transaction.atomic():
                response = work()
                if not _keep(mine, response, shows_secret=shows_secret):
                    raise _under_way()  # this request was taken for dead: it takes its work back
            return response
    except BaseException:
        with contextlib.suppress(DatabaseError):  # the lease runs out by itself
            mine.delete()
        raise
    _keep(mine, response, shows_secret=shows_secret)
    return response


def forget_old_keys() -> int:
    """Housekeeping: drop keys and answers whose time is over; how many keys."""
    now = timezone.now()
    IdempotencyKey.objects.filter(answer_ends_at__lt=now).exclude(answer="").update(answer="")
    return IdempotencyKey.objects.filter(created_at__lt=now - KEPT).delete()[0]


def _reserve(key: str, caller: Caller, fingerprint: str) -> tuple[IdempotencyKey, str | None]:
    """The key's row, and the token of its lease; None once there is an answer."""
    own = IdempotencyKey.objects.filter(tenant_id=caller.tenant_id, principal=caller.principal)
    rows = own.filter(key=key)
    rows.filter(created_at__lt=timezone.now() - KEPT).delete()
    row = rows.first() or _make(own, key, caller, fingerprint)
    if row.fingerprint != fingerprint:
        IDEMPOTENCY_KEYS.labels("reused").inc()
        raise Problem(
            "This Idempotency-Key was used with another request.",
            status=422,
            code="idempotency-key-reused",
        )
    if row.status is not None:
        return row, None
    token = leases.claim(rows.filter(pk=row.pk, status=None), RESERVED)
    if token is None:
        raise _under_way()
    return row, token


def _make(
    own: QuerySet[IdempotencyKey], key: str, caller: Caller, fingerprint: str
) -> IdempotencyKey:
    if own.order_by()[: KEYS_LIVE_MAX + 1].count() >= KEYS_LIVE_MAX:
        oldest = own.order_by("created_at").values_list("created_at", flat=True)[0]
        IDEMPOTENCY_KEYS.labels("too-many").inc()
        raise TooManyRequests(
            f"{KEYS_LIVE_MAX} keys of yours are kept for {KEPT.days * 24} h each: send this"
            " request without one, or later.",
            code="too-many-idempotency-keys",
            retry_after_s=max(1, int((oldest + KEPT - timezone.now()).total_seconds()) + 1),
        )
    try:
        with transaction.atomic():
            return IdempotencyKey.objects.create(
                tenant_id=caller.tenant_id,
                principal=caller.principal,
                key=key,
                fingerprint=fingerprint,
            )
    except IntegrityError:
        row = own.filter(key=key).first()  # somebody was quicker, and may have been refused since
        if row is None:
            raise _under_way() from None
        return row


def _under_way() -> Conflict:
    IDEMPOTENCY_KEYS.labels("under-way").inc()
    return Conflict(
        "The first request with this key is under way.", code="in-progress", retryable=True
    )


def _keep(mine: QuerySet[IdempotencyKey], response: Response, *, shows_secret: bool) -> bool:
    """Whether the key was still this request's."""
    kept = {name: response[name] for name in HEADERS_KEPT if name in response}
    whole = json.dumps({"data": response.data, "headers": kept}, cls=JSONEncoder).encode()
    packed = zlib.compress(whole)
    return bool(
        mine.update(
            status=response.status_code,
            answer=keyring().seal(packed) if len(packed) <= ANSWER_MAX_BYTES else "",
            answer_ends_at=timezone.now() + (SECRET_KEPT if shows_secret else KEPT),
            lease_token="",
            lease_expires_at=None,
        )
    )


def _again(row: IdempotencyKey) -> Response:
    try:
        found = _unpacked(row)
    except SecretUnreadableError:
        found = None  # sealed with a key that was taken away since
    if found is None:
        IDEMPOTENCY_KEYS.labels("gone").inc()
        raise Gone(
            f"The request with this key was carried out (status {row.status}); its answer is not"
            " kept any more. Look at what it made; make another one with another key.",
            code="idempotency-answer-gone",
        )
    IDEMPOTENCY_KEYS.labels("replayed").inc()
    response = Response(found["data"], status=row.status, headers=found["headers"])
    response[REPLAYED] = "true"
    return response


def _unpacked(row: IdempotencyKey) -> dict[str, Any] | None:
    """Raises SecretUnreadableError."""
    is_over = row.answer_ends_at is None or row.answer_ends_at <= timezone.now()
    if is_over or not row.answer:
        return None
    found: dict[str, Any] = json.loads(zlib.decompress(keyring().unseal(row.answer)))
    return found
