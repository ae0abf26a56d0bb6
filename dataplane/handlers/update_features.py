"""UpdateFeatures (57), versions 0-1: change which version of a feature a cluster has agreed upon.

Behaviour: the controller only; needs Alter on the cluster. Brokers in ZooKeeper mode support no
feature, so every update is refused with INVALID_REQUEST and the reason that Kafka has for it.
Version notes: 0 asks for a downgrade by a flag, 1 by its type (upgrade, safe, unsafe).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.handlers.controller_access import require_controller, require_on_cluster
from dataplane.model.errors import ErrorCode
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.wire.messages.update_features import FeatureUpdate

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3
_TYPES: Final = frozenset({UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE})


async def handle(context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    require_on_cluster(context, AclOperation.ALTER)
    require_controller(context)
    version = context.header.api_version
    return UpdateFeaturesResponse(
        results=[
            UpdatableFeatureResult(
                feature=update.feature,
                error_code=ErrorCode.INVALID_REQUEST,
                error_message=_refusal(update, version),
            )
            for update in request.feature_updates
        ]
    )


def _refusal(update: FeatureUpdate, version: int) -> str:
    upgrade_type = update.upgrade_type
    if version == 0:
        upgrade_type = SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE
    if not update.feature:
        return "The name of a feature cannot be empty."
    if upgrade_type not in _TYPES:
        return "Unknown type of upgrade."
    if update.max_version_level >= 1:
        return "The feature is not supported."
    if upgrade_type == UPGRADE:
        return (
            f"Version {update.max_version_level} is below 1, which removes a feature: that is a "
            "downgrade, and has to be asked for as one."
        )
    return "There is no such finalized feature to be removed."
