"""cluster.change_addresses: brokers advertise the address that their host's agent has now.

The agent was started again with another `--address` and has registered it → for each broker whose
host is one of those, as `cluster.restart` does it: everything else is whole → its row has the new
address, with TLS a certificate of it → its process listens and advertises there, registers, its
replicas are in sync → the next. One that does not come back there is put back to where it
listened, once the roll has ended. The way back is the same kind, once the agent has the address of
before again: a plan of it would be refused until then, so that none is offered as an undo.

Nobody chooses an address here: the agent that lives says it, and it is compared right before each
broker.
"""

from typing import Any, Final

from rest_framework import serializers

from controlplane.clusters import services
from controlplane.clusters.address_rules import (
    Changes,
    Place,
    Serving,
    changes_of,
    renamed,
)
from controlplane.clusters.authority import has_tls
from controlplane.clusters.described import Host
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.replacing_places import hosts_now
from controlplane.clusters.roll_look import least_in_sync
from controlplane.clusters.roll_steps import RETURN_S, Roller
from controlplane.clusters.rolling import (
    CANARY_MAX_S,
    CANARY_S,
    GENERATIONS,
    IN_SYNC_DEADLINE_S,
    ROLL_DEADLINE_S,
    RolledBrokerSerializer,
    RollKind,
    extents,
    in_order,
    roll_warnings,
    rolled,
    unavoidable_of_all,
)
from controlplane.clusters.selectors import host_rows
from controlplane.common.problems import Conflict
from controlplane.common.serializers import Shape
from controlplane.common.words import counted
from controlplane.operations.details import detail_of, together
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepFailedError,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.rolled import FAILED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

KIND: Final = "cluster.change_addresses"
ADDRESSES: Final = "addresses"
BACK: Final = "put_back"
"""In the memo: the generations by which brokers are put back to where they listened."""
STAYS = detail_of("remains/addresses")


class ChangeAddressesInputs(Shape):
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )


class ReaddressedBrokerSerializer(RolledBrokerSerializer):
    from_address = serializers.CharField()
    to_address = serializers.CharField(help_text="Where the agent of its host serves now.")
    renews_certificate = serializers.BooleanField(help_text="With TLS its address is in it.")


class ChangeAddressesDiffSerializer(Shape):
    brokers = ReaddressedBrokerSerializer(many=True, help_text="In the order of the roll.")
    bootstrap_before = serializers.CharField()
    bootstrap_after = serializers.CharField(help_text="What clients that begin anew are given.")
    canary_s = serializers.IntegerField()


class _Readdressed(Roller):
    """A roll in which every broker that starts again listens at another address."""

    addresses: dict[int, str]

    def start_again(self, row: Broker) -> None:
        generation = self.generations[row.broker_id]
        readdress(self.cluster, row, self.addresses[row.broker_id], generation)
        services.restart_to(self.cluster, row, generation, count=self.broker_count)


class ChangeAddresses(RollKind):
    name = KIND
    final = "brokers follow their agents: give these the addresses of before, and follow again"
    inputs = ChangeAddressesInputs
    diff_shape = ChangeAddressesDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = cluster_of(context)
        rows = rolled(cluster, None)
        found = addresses_of(rows, host_rows())
        if not found.moving:
            raise Conflict(_nothing(found), code="nothing-to-do")
        after = {each.broker: each.after for each in found.moving}
        moving = [row for row in rows if row.broker_id in after]
        gateway = self.gateway(context)
        topics = gateway.list_topics()
        least = least_in_sync(gateway, [topic.name for topic in topics])
        described = gateway.describe_cluster()
        live = {node.id for node in described.brokers}
        lost = unavoidable_of_all([row.broker_id for row in moving], topics, least)
        planned = in_order(moving, topics, live, described.controller_id)
        servers = _servers_after(cluster, moving, after)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "brokers": [
                    {
                        **row,
                        "from_address": row["host"],
                        "to_address": after[row["id"]],
                        "renews_certificate": has_tls(cluster),
                    }
                    for row in planned
                ],
                "bootstrap_before": cluster.bootstrap_servers,
                "bootstrap_after": servers,
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=summary_of("cluster.change_addresses", brokers=len(moving)),
            preconditions={
                GENERATIONS: {str(row.broker_id): row.generation for row in moving},
                ADDRESSES: {str(broker): address for broker, address in sorted(after.items())},
            },
            warnings=[
                *_warnings(found, cluster, servers),
                *roll_warnings(cluster, planned, lost),
            ],
            blast_radius=extents(lost),
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        rows = rolled(cluster_of(context), None)
        wanted = {row["id"] for row in plan.diff["brokers"]}
        moving = [row for row in rows if row.broker_id in wanted]
        found = addresses_of(moving, host_rows())
        return {
            GENERATIONS: {str(row.broker_id): row.generation for row in moving},
            ADDRESSES: {str(each.broker): each.after for each in found.moving},
        }

    def roller(self, context: StepContext) -> Roller:
        found = super().roller(context)
        made = _Readdressed(**{name: getattr(found, name) for name in found.__slots__})
        made.addresses = {row["id"]: row["to_address"] for row in context.diff["brokers"]}
        return made

    def serve(self, context: StepContext) -> Done:
        """The agents live, and have registered these addresses.

        Raises:
            StepFailedError: `address-changed`; nothing has been done yet.
        """
        RollKind.check(self, context)
        _check_serving(context, self.roller(context))
        return Done(detail=detail_of("addresses/serving"))

    def roll(self, context: StepContext) -> Done | Wait:
        """Before each broker that is not begun yet the agents are asked once more."""
        roller = self.roller(context)
        if roller.book.under_way is None and roller.book.waiting:
            _check_serving(context, roller, only=set(roller.book.waiting))
        return roller.tick() or Done(
            detail=detail_of("addresses/done", brokers=roller.book.done),
            progress=roller.progress(),
        )

    def verify(self, context: StepContext) -> Done | Wait:
        """By what brokers tell clients, and by their replicas."""
        wanted = {row["id"]: row["to_address"] for row in context.diff["brokers"]}
        nodes = {node.id: node.host for node in self.gateway(context).describe_cluster().brokers}
        others = [broker for broker, host in wanted.items() if nodes.get(broker) != host]
        if others:
            host = nodes.get(others[0])
            return read_back(
                detail_of("addresses/other", broker=str(others[0]), host=host), poll_s=1.0
            )
        return RollKind.verify(self, context)

    def put_back(self, context: StepContext) -> Done | Wait:
        """Those that did not come back listen once more where they did; the others stay."""
        roller = self.roller(context)
        failed = [one for one, state in roller.book.states.items() if state == FAILED]
        if not failed:
            return Done(detail=detail_of("roll/none-behind"))
        before = {row["id"]: row["from_address"] for row in context.diff["brokers"]}
        rows = [row for row in roller.brokers if row.broker_id in failed]
        for row in rows:
            generation = roller.generations[row.broker_id] + 1
            readdress(roller.cluster, row, before[row.broker_id], generation)
            services.restart_to(roller.cluster, row, generation, count=roller.broker_count)
        waits = services.await_processes_of(rows)
        if isinstance(waits, Wait):
            return waits
        return Done(
            detail=detail_of("addresses/put-back", brokers=len(rows)),
            remains=(detail_of("remains/addresses-put-back", brokers=len(rows)),),
        )

    steps = (
        StepSpec(
            name="check",
            title="The agents serve at the new addresses, no more hangs on the brokers",
            run=serve,
            writes=False,
        ),
        StepSpec(
            name="roll",
            title="Start the brokers at their hosts' addresses, one after the other",
            run=roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle", "back"),
            stays=STAYS,
        ),
        verified_by(
            verify,
            title="Every broker advertises its host's address, its replicas are in sync",
            deadline_s=IN_SYNC_DEADLINE_S,
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
        StepSpec(
            name="back",
            title="Put back who did not come back",
            run=put_back,
            phase=Phase.RESTORE,
            deadline_s=RETURN_S,
        ),
    )


def addresses_of(rows: list[Broker], found: list[Host]) -> Changes:
    return changes_of(
        (Place(broker=row.broker_id, host_id=row.host_id, address=row.address) for row in rows),
        {host.host_id: Serving(address=host.address, is_alive=host.alive) for host in found},
    )


def readdress(cluster: Cluster, row: Broker, address: str, generation: int) -> None:
    """The broker's address from this generation on, with its certificate; clients that begin anew
    are given it. Again it changes nothing; a later generation is as good.
    """
    if row.generation >= generation:
        return
    before = (row.address, row.client_port)
    renewed: dict[str, Any] = {}
    if has_tls(cluster) and row.address != address:
        renewed = {"tls_token": "", "certificate_ends_at": None}
    servers = renamed(cluster.bootstrap_servers, before, (address, row.client_port))
    if servers != cluster.bootstrap_servers:
        Cluster.objects.filter(pk=cluster.pk).update(bootstrap_servers=servers)
        cluster.bootstrap_servers = servers
    rows = Broker.objects.filter(pk=row.pk, generation__lt=generation)
    rows.update(address=address, generation=generation, **renewed)
    for name, value in {"address": address, "generation": generation, **renewed}.items():
        setattr(row, name, value)


def _check_serving(context: StepContext, roller: Roller, *, only: set[int] | None = None) -> None:
    """Raises StepFailedError: an agent is away, or has another address than the plan's."""
    wanted = {row["id"]: row["to_address"] for row in context.diff["brokers"]}
    rows = [row for row in roller.brokers if row.broker_id in (only or wanted)]
    hosts = {host.host_id: host for host in hosts_now()}
    for row in rows:
        host = hosts.get(row.host_id)
        if host is None or not host.alive:
            why = detail_of("failed/agent-away", broker=str(row.broker_id))
        elif host.address != wanted[row.broker_id]:
            why = detail_of(
                "failed/address-changed", broker=str(row.broker_id), address=host.address
            )
        else:
            continue
        raise StepFailedError("address-changed", together(roller.said(), why))


def _servers_after(cluster: Cluster, moving: list[Broker], after: dict[int, str]) -> str:
    servers = cluster.bootstrap_servers
    for row in moving:
        to = (after[row.broker_id], row.client_port)
        servers = renamed(servers, (row.address, row.client_port), to)
    return servers


def _nothing(found: Changes) -> str:
    if found.unheard:
        return (
            "No agent that lives has another address than its brokers advertise; of"
            f" {counted(len(found.unheard), 'broker')} the host's agent is away."
        )
    return "Every broker advertises the address of its host."


def _warnings(found: Changes, cluster: Cluster, servers: str) -> list[dict[str, Any]]:
    rows = [warning_of("both-addresses")]
    if servers != cluster.bootstrap_servers:
        rows.append(warning_of("clients-begin", addresses=servers))
    if found.unheard:
        rows.append(warning_of("hosts-away", brokers=len(found.unheard)))
    return rows
