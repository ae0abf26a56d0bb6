"""Reading a result back: the step that verifies a kind, and its answer while the truth differs.

What one broker says may be old, or a rest that the others have forgotten: every live one is asked.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.operations.details import Detail, broker_params, detail_of, together
from controlplane.operations.operations import (
    Done,
    Phase,
    Progress,
    StepContext,
    StepRun,
    StepSpec,
    Wait,
)

POLL_S = 0.2
"""How soon a step looks again where only the brokers' metadata has to follow."""
ASK_AGAIN_S = 3.0
"""How soon a broker that did not answer is asked again."""
UNKNOWN_S = 24.0
"""How long a broker that does not answer is asked again. A dead one is off the list of live brokers
by then, with ZooKeeper's usual session timeout of 18 s; the shortest deadline of a step is 30 s."""
ROUND_S = 8.0
"""How long one look may take; whoever was not asked by then is asked first next time."""
MEMO = "read_back"

AS_PLANNED = detail_of("read-back/as-planned")

Differing = Callable[[BrokerView, int], str | None]
"""What one broker (its view, its id) says that is not as planned, a detail; None: nothing."""


def verified_by(
    run: StepRun, *, title: str = "The brokers read it back", deadline_s: float = 30.0
) -> StepSpec:
    """The step `verify`, bound to the kind's method that compares the truth with the plan."""
    return StepSpec(name="verify", title=title, run=run, phase=Phase.VERIFY, deadline_s=deadline_s)


def read_back(
    differing: str | None,
    *,
    detail: str = AS_PLANNED,
    progress: Progress | None = None,
    poll_s: float = POLL_S,
) -> Done | Wait:
    """Done with `detail` when nothing differs; else Wait, which says what differs."""
    if differing:
        return Wait(seconds=poll_s, detail=differing, progress=progress)
    return Done(detail=detail, progress=progress)


def read_back_everywhere(
    context: StepContext,
    gateway: ClusterGateway,
    differing: Differing,
    *,
    detail: str = AS_PLANNED,
    poll_s: float = POLL_S,
    memo_key: str = MEMO,
) -> Done | Wait:
    """Ask every live broker; Done when all that can be asked agree with the plan.

    Who has agreed is not asked again. A broker that does not answer is asked for UNKNOWN_S, one
    that refuses is not; then it is unknown, and the step says so. At least one has to agree.

    Raises:
        GatewayError: the live brokers cannot be read, or every one of them refuses.
    """
    memo = context.memo.setdefault(memo_key, {})
    live = [node.id for node in gateway.describe_cluster().brokers]
    found = _ask(gateway, differing, live, memo)
    now_s = timezone.now().timestamp()
    if found.differing or not found.agreed:
        if live and len(found.refusals) == len(live):
            raise next(iter(found.refusals.values()))
        said = found.said() or detail_of("read-back/none-live")
        return Wait(seconds=poll_s if found.differing else ASK_AGAIN_S, detail=said)
    if found.not_asked:
        said = detail_of("read-back/asked", asked=len(found.agreed), brokers=len(live))
        return Wait(seconds=poll_s, detail=said)
    if not found.silent:
        memo.pop("silent_since_s", None)
    elif now_s - memo.setdefault("silent_since_s", now_s) < UNKNOWN_S:
        return Wait(
            seconds=ASK_AGAIN_S, detail=together(found.said(), detail_of("read-back/again"))
        )
    unknown = found.said()
    return Done(detail=together(detail, detail_of("lead/unknown"), unknown) if unknown else detail)


@dataclass(slots=True, kw_only=True)
class _Found:
    """What a round of questions has brought."""

    agreed: set[int]
    differing: dict[int, str] = field(default_factory=dict)
    silent: list[int] = field(default_factory=list)
    refusals: dict[int, GatewayError] = field(default_factory=dict)
    not_asked: list[int] = field(default_factory=list)

    def said(self) -> Detail:
        """Brokers that say the same are named together."""
        details = [
            together(detail_of("lead/brokers", **broker_params(brokers)), text)
            for text, brokers in _by_what(self.differing).items()
        ]
        if self.silent:
            details.append(detail_of("read-back/silent", **broker_params(self.silent)))
        codes = {broker: error.code for broker, error in self.refusals.items()}
        for code, brokers in _by_what(codes).items():
            details.append(detail_of("read-back/refused", error=code, **broker_params(brokers)))
        return together(*details)


def _by_what(said: Mapping[int, str]) -> dict[str, list[int]]:
    """The brokers that said it, in the order in which it was said first."""
    found: dict[str, list[int]] = {}
    for broker, what in said.items():
        found.setdefault(what, []).append(broker)
    return found


def _ask(
    gateway: ClusterGateway,
    differing: Differing,
    live: Collection[int],
    memo: dict[str, Any],
) -> _Found:
    """Those that have not agreed yet, the least asked first, as far as ROUND_S lasts."""
    found = _Found(agreed=set(memo.get("agreed", ())) & set(live))
    times: dict[str, int] = memo.setdefault("asked", {})
    began = timezone.now()
    for broker in sorted(set(live) - found.agreed, key=lambda id_: (times.get(str(id_), 0), id_)):
        if (timezone.now() - began).total_seconds() > ROUND_S:
            found.not_asked.append(broker)
            continue
        times[str(broker)] = times.get(str(broker), 0) + 1
        try:
            text = differing(gateway.at(broker), broker)
        except GatewayError as error:
            if error.retriable:
                found.silent.append(broker)
            else:
                found.refusals[broker] = error
        else:
            if text:
                found.differing[broker] = text
            else:
                found.agreed.add(broker)
    memo["agreed"] = sorted(found.agreed)
    # One that was asked in vain before is unknown, not new: see `not_asked`.
    seen = [broker for broker in found.not_asked if times.get(str(broker), 0)]
    found.silent += seen
    found.not_asked = [broker for broker in found.not_asked if broker not in seen]
    return found


def brokers_named(brokers: Collection[int]) -> str:
    """`broker 2`, `brokers 2, 3`."""
    names = ", ".join(map(str, sorted(brokers)))
    return f"broker {names}" if len(brokers) == 1 else f"brokers {names}"
