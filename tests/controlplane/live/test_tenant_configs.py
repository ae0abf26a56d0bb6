"""A tenant's configuration on its whole way: REST, database, ZooKeeper, agent, a broker's file."""

import pytest

from dataplane.config import parse_properties
from tests.controlplane.live.conftest import QUICK
from tests.controlplane.live.service import Refused

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def files(service):
    """What every broker of the service was started with."""
    found = sorted((service.directory / "brokers").glob("*/broker.properties"))
    return {path: parse_properties(path.read_text(encoding="ascii")) for path in found}


def test_a_tenants_settings_arrive_and_decide_nothing_else(service, cluster):
    found = files(service)
    assert len(found) == 3
    for path, settings in found.items():
        assert {key: settings[key] for key in QUICK} == QUICK
        assert settings["log.dirs"] == str(path.parent / "data")
        assert settings["super.users"] == "User:penstock-broker;User:penstock-admin"
        assert settings["zookeeper.connect"].endswith(f"/penstock/clusters/{cluster['id']}")


@pytest.mark.parametrize("end", LINE_ENDS, ids=ascii)
def test_what_would_bring_settings_along_makes_no_broker(service, cluster, end):
    before = files(service)
    injected = f"{end}log.dirs={service.directory}/evil{end}super.users=User:mallory"
    for config in (
        {"num.partitions": f"1{injected}."},
        {"log.message.format.version": f"3.0{injected}."},
        {f"num.partitions=1{injected}": "1"},
        {"broker.rack": f"r{injected}."},
        {"zookeeper.connect": f"127.0.0.1:1{cluster['zookeeper_path']}"},
    ):
        body = {"name": "evil", "broker_count": 1, "config": config, "confirm": True}
        with pytest.raises(Refused) as caught:
            service.post("/clusters", body)
        assert caught.value.status == 422
        assert caught.value.problem["errors"][0]["pointer"].startswith("/inputs/config/")
    assert files(service) == before
    assert not (service.directory / "evil").exists()
