"""What a gateway call may end in, besides its value.

A timeout after a write was sent is `unknown_outcome`: the caller re-reads the truth.
"""

import math
from contextlib import AbstractContextManager
from types import TracebackType

from controlplane.common.problems import Conflict, Problem, Unavailable
from controlplane.common.words import storable


class GatewayError(Exception):
    """`code` is Kafka's error name (`TOPIC_ALREADY_EXISTS`) or one of ours in lower case.

    `retry_after_s`: before that it would be refused again; None when nobody knows.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        retriable: bool = False,
        unknown_outcome: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        detail = storable(detail)  # of a broker's words; the tables keep it
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail
        self.retriable = retriable
        self.unknown_outcome = unknown_outcome
        self.retry_after_s = retry_after_s

    @property
    def said(self) -> str:
        """What people read: the words, and a code only where there are none."""
        return self.detail or f"The brokers refuse it ({self.code})."

    def as_problem(self) -> Problem:
        """For REST: the cluster is away (503), or it refuses (409) in Kafka's own words."""
        if self.retriable:
            return Unavailable(
                self.said,
                code="cluster-busy" if self.code == BUSY else "cluster-unreachable",
                retry_after_s=None if self.retry_after_s is None else math.ceil(self.retry_after_s),
            )
        if self.code in AUTHENTICATION_REFUSED:
            return Conflict(
                "The cluster does not accept the administrator user that it was registered with"
                f" (authentication failed): {self.said}",
                code="cluster-authentication-failed",
                kafka_error=self.code,
            )
        if self.code == EGRESS_REFUSED:
            return Conflict(self.detail, code=EGRESS_REFUSED)
        if self.code.startswith("tls-"):
            return Conflict(self.detail, code="cluster-tls-failed", reason=self.code)
        return Conflict(self.said, code="refused-by-cluster", kafka_error=self.code)


AUTHENTICATION_FAILED = "SASL_AUTHENTICATION_FAILED"
MECHANISM_NOT_OFFERED = "UNSUPPORTED_SASL_MECHANISM"
TOKEN_REFUSED = "token-refused"  # noqa: S105 - a code
LOGIN_WANTED = "login-wanted"
AUTHENTICATION_REFUSED = frozenset(
    {
        AUTHENTICATION_FAILED,
        MECHANISM_NOT_OFFERED,
        "ILLEGAL_SASL_STATE",
        TOKEN_REFUSED,
        LOGIN_WANTED,
    }
)
EGRESS_REFUSED = "egress-refused"
UNREACHABLE = "unreachable"
TIMED_OUT = "timed-out"
NOT_ANSWERING = "not-answering"
"""The breaker is open: nothing was sent."""
BUSY = "busy"
"""So many questions are under way that nothing was sent."""
NOT_ASKED = "not-asked"
"""The time for all questions together was over: nothing was sent."""
MALFORMED = "malformed-answer"
"""There was an answer, and no Kafka gives such a one."""


class AcceptedRefusals(AbstractContextManager[None]):
    """Pass over a refusal by one of these codes: the broker says that nothing is left to do.

    Every other error goes on.
    """

    def __init__(self, *codes: str) -> None:
        self._codes = codes

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return isinstance(error, GatewayError) and error.code in self._codes


def unreachable(detail: str) -> GatewayError:
    return GatewayError(UNREACHABLE, detail, retriable=True)


def timed_out(detail: str, *, write: bool) -> GatewayError:
    return GatewayError(TIMED_OUT, detail, retriable=True, unknown_outcome=write)


def not_asked(what: str) -> GatewayError:
    return GatewayError(
        NOT_ASKED, f"{what}: not asked, earlier questions took too long", retriable=True
    )


def malformed(what: str) -> GatewayError:
    """Of a read: a Kafka that goes on so is none that can be asked."""
    return GatewayError(MALFORMED, f"{what}: the answer is none that Kafka gives", retriable=True)
