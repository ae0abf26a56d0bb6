"""UpdateFeatures: in ZooKeeper mode no feature is supported, and every update is refused."""

from __future__ import annotations

import pytest

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.update_features import FeatureUpdate, UpdateFeaturesRequest
from tests.dataplane.handlers.one_broker import NoController, OneBroker
from tests.dataplane.handlers.test_audit import started


class ActiveController(NoController):
    is_active = True


def asking(**update) -> UpdateFeaturesRequest:
    return UpdateFeaturesRequest(feature_updates=[FeatureUpdate(**update)])


@pytest.mark.parametrize(
    ("version", "update", "words"),
    [
        (0, {"feature": "", "max_version_level": 1}, "empty"),
        (0, {"feature": "metadata.version", "max_version_level": 20}, "not supported"),
        (0, {"feature": "f", "max_version_level": 0}, "removes"),
        (0, {"feature": "f", "max_version_level": 0, "allow_downgrade": True}, "no such"),
        (1, {"feature": "f", "max_version_level": 1, "upgrade_type": 4}, "Unknown type"),
        (1, {"feature": "f", "max_version_level": 1, "upgrade_type": 2}, "not supported"),
        (1, {"feature": "f", "max_version_level": 0, "upgrade_type": 1}, "removes"),
        (1, {"feature": "f", "max_version_level": 0, "upgrade_type": 3}, "no such"),
    ],
)
async def test_every_update_is_refused_with_its_reason(version, update, words) -> None:
    broker = OneBroker(controller=ActiveController())
    answer = await broker.ask(asking(**update), version)
    (result,) = answer.results
    assert (answer.error_code, result.feature) == (0, update["feature"])
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert words in result.error_message
    await broker.stop()


async def test_no_update_is_no_error() -> None:
    broker = OneBroker(controller=ActiveController())
    answer = await broker.ask(UpdateFeaturesRequest(), 1)
    assert (answer.error_code, answer.results) == (0, [])
    await broker.stop()


async def test_who_may_not_alter_the_cluster_learns_nothing(caplog) -> None:
    """Before it is said who the controller is, as in Kafka."""
    broker = await started("mallory")
    answer = await broker.ask(asking(feature="f", max_version_level=1), 1)
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    broker = await started("admin")
    answer = await broker.ask(asking(feature="f", max_version_level=1), 1)
    assert answer.error_code == ErrorCode.NOT_CONTROLLER
