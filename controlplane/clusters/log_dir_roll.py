"""A roll in which every broker that starts again has other log directories than before."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from controlplane.clusters import services
from controlplane.clusters.log_dir_rules import shown
from controlplane.clusters.models import Broker
from controlplane.clusters.roll_look import least_in_sync
from controlplane.clusters.roll_steps import Roller
from controlplane.clusters.rolling import RollKind, in_order, unavoidable_of_all
from controlplane.clusters.rolls import Unavoidable
from controlplane.common.problems import Unavailable
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TopicDescription
from controlplane.operations.operations import StepContext, StepRetryError

BEFORE: Final = "log_dirs"
"""In the preconditions: names by broker, as its row had them."""
REFILL_S: Final = 86_400.0
"""How long a broker may take to read the replicas of a whole disk from others."""

Names = tuple[list[str], list[str]]
"""Directories beside the first, and those that were given up."""


@contextlib.contextmanager
def asked_again() -> Iterator[None]:
    """A ZooKeeper that does not answer is asked again by the same step."""
    try:
        yield
    except Unavailable as error:
        raise StepRetryError(error.detail) from error


class DirectoryRoller(Roller):
    """`after`: what each broker is to have; `check`: asked right before, it raises to refuse."""

    after: Mapping[int, Names]
    check: Callable[[Broker], None]

    def start_again(self, row: Broker) -> None:
        generation = self.generations[row.broker_id]
        if row.generation < generation:
            self.check(row)
            names, given_up = self.after[row.broker_id]
            rows = Broker.objects.filter(pk=row.pk, generation__lt=generation)
            rows.update(generation=generation, log_dirs=names, given_up_dirs=given_up)
            row.generation, row.log_dirs, row.given_up_dirs = generation, names, given_up
        services.restart_to(self.cluster, row, generation, count=self.broker_count)


class DirectoryKind(RollKind):
    """What adding and emptying share."""

    def after(self, context: StepContext, row: Broker) -> Names:
        """What the broker is to have. It follows from the plan, so that again it is the same."""
        raise NotImplementedError

    def check_now(self, context: StepContext, row: Broker) -> None:
        """Asked right before the broker is restarted. Raises StepFailedError."""

    def roller(self, context: StepContext) -> Roller:
        found = super().roller(context)
        made = DirectoryRoller(**{name: getattr(found, name) for name in found.__slots__})
        made.after = {row.broker_id: self.after(context, row) for row in found.brokers}
        made.check = lambda row: self.check_now(context, row)
        return made


def order_of(
    gateway: ClusterGateway, rows: Sequence[Broker], topics: list[TopicDescription]
) -> tuple[list[dict[str, Any]], Unavoidable]:
    """The brokers as the plan shows them, and what no order can avoid."""
    least = least_in_sync(gateway, [topic.name for topic in topics])
    described = gateway.describe_cluster()
    live = {node.id for node in described.brokers}
    lost = unavoidable_of_all([row.broker_id for row in rows], topics, least)
    return in_order([*rows], topics, live, described.controller_id), lost


def names_change(before: Sequence[str], after: Sequence[str]) -> dict[str, list[str]]:
    return {"before": shown(before), "after": shown(after)}


def names_of(rows: Sequence[Broker]) -> dict[str, list[str]]:
    return {str(row.broker_id): list(row.log_dirs) for row in rows}
