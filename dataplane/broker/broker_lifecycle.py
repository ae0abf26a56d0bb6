"""What one running broker is to the cluster at this moment."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(slots=True, kw_only=True)
class BrokerLifecycle:
    """`broker_id` and `cluster_id` never change; the rest is set by whoever runs the broker.

    `broker_epoch` is the creation id (czxid) of this broker's registration node; it changes when
    an expired ZooKeeper session makes the broker register again. Before the first registration it
    is a number above every earlier one, so that commands for an earlier life are refused.
    `stopping` is True from the moment on that leaderships have been handed over.
    """

    broker_id: int
    cluster_id: str
    broker_epoch: int = -1
    stopping: bool = False
