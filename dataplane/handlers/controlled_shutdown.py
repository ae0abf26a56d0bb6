"""ControlledShutdown (7), versions 0-3: a broker asks to be relieved of its partitions.

Behaviour: the controller only; needs ClusterAction. The answer names the partitions that the
broker still leads, because no other in-sync replica is live; empty means that it may go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.controller_access import require_controller, wait_until_known
from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

SETTLE_MS = 1_000


async def handle(
    context: RequestContext, request: ControlledShutdownRequest
) -> ControlledShutdownResponse:
    require_cluster_action(context)
    require_controller(context)
    remaining = await context.broker.controller.submit(
        lambda term: term.controlled_shutdown.shut_down(request.broker_id, request.broker_epoch)
    )
    # The new leaders should serve before the old one closes its listeners.
    await wait_until_known(context, SETTLE_MS)
    return ControlledShutdownResponse(
        remaining_partitions=[
            RemainingPartition(topic_name=topic, partition_index=index)
            for topic, index in remaining
        ]
    )
