"""Inside the sandbox: the site, a cluster, one scenario after the other, the tables."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
import traceback
import urllib.request
from typing import TYPE_CHECKING, Any

from tests.hosts import report
from tests.hosts.doors import DoorWatch, doors_of
from tests.hosts.scenarios import CREATED, SCENARIOS
from tests.hosts.site import Site, running_site
from tests.hosts.stage import BROKERS, Run, Scenario
from tests.hosts.traffic import PARTITIONS, Traffic

if TYPE_CHECKING:
    from collections.abc import Sequence

USER = "everything"


class Report:
    """What is known so far, written after each scenario: an interrupt loses nothing of it."""

    def __init__(self, file: pathlib.Path) -> None:
        self.file = file
        self.figures: list[report.Figures] = []
        self.doors: list[report.Doors] = []
        self.passed: list[str] = []
        self.failures: dict[str, str] = {}
        """Why, by scenario or part of the run."""

    def write(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(report.page(self.figures, self.doors))


class Stage:
    """The cluster that scenarios are played on, and a user of it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        acls = [
            {"principal": f"User:{USER}", "operation": "ALL", "resource_type": kind, "resource_name": "*"}
            for kind in ("TOPIC", "GROUP")
        ]  # fmt: skip
        made = site.service.run("user.create", username=USER, acls=acls)
        assert made["state"] == "succeeded", made
        secret = site.service.post(f"/operations/{made['id']}/secret")
        self.login: dict[str, object] = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": secret["mechanism"],
            "sasl.username": secret["username"],
            "sasl.password": secret["password"],
        }
        cluster = site.service.get(f"/clusters/{site.service.cluster_id}")
        self.bootstrap: str = cluster["bootstrap_servers"]
        with urllib.request.urlopen(f"{site.service.address}/api/v1/openapi.json") as answer:
            self.document: dict[str, Any] = json.load(answer)

    def play(self, scenario: Scenario, number: int, found: Report) -> None:
        topic = f"t.{number}"
        made = self.site.service.run(
            "topic.create",
            name=topic,
            partitions=PARTITIONS,
            replication_factor=len(BROKERS),
            configs={"min.insync.replicas": "2"},
        )
        assert made["state"] == "succeeded", made
        traffic = Traffic(self.bootstrap, self.login, topic, scenario.name)
        try:
            traffic.wait_until_whole(BROKERS)
            traffic.warm_up()
            watch = self._watch(topic, traffic.group.name)
            watch.start()
            try:
                note = scenario.act(Run(self.site, traffic))
            finally:
                found.doors.append(watch.stop(scenario.name))
            figures = traffic.settle(goal_s=scenario.goal_s, note=note)
        finally:
            traffic.stop()
        found.figures.append(figures)
        if scenario.after is not None:
            scenario.after(Run(self.site, traffic))
            traffic.wait_until_whole(BROKERS)
        if figures.violations:
            found.failures[scenario.name] = figures.verdict
        elif figures.gap_s > scenario.bound_s:
            found.failures[scenario.name] = (
                f"{figures.gap_s:.1f} s without an acknowledgement,"
                f" more than {scenario.bound_s:g} s on any machine"
            )
        else:
            found.passed.append(scenario.name)

    def _watch(self, topic: str, group: str) -> DoorWatch:
        service = self.site.service
        names = {
            "cluster_id": str(service.cluster_id),
            "broker_id": "2",
            "partition": "0",
            "name": topic,
            "topic": topic,
            "group": group,
            "kafka_user": USER,
        }
        return DoorWatch(service.address, service.api_key, doors_of(self.document, names))


def chosen(only: Sequence[str]) -> list[Scenario]:
    """Those with one of these in their names; a whole name means that one alone."""
    names = {each.name for each in SCENARIOS}
    return [
        each
        for each in SCENARIOS
        if not only
        or any(part == each.name if part in names else part in each.name for part in only)
    ]


def play_all(directory: pathlib.Path, only: Sequence[str], found: Report) -> None:
    with running_site(directory) as site:
        print("hosts, ensemble and control plane run", flush=True)
        began_s = time.monotonic()
        ended = site.create_cluster()
        assert len({site.service.host_of(broker) for broker in BROKERS}) == len(BROKERS)
        print(f"{CREATED}: {ended['state']}, {time.monotonic() - began_s:.0f} s", flush=True)
        stage = Stage(site)
        for number, scenario in enumerate(chosen(only), start=1):
            print(f"\n== {scenario.name}", flush=True)
            try:
                stage.play(scenario, number, found)
            except Exception as error:
                found.failures[scenario.name] = repr(error)
                traceback.print_exc()
                return  # what the next one needs is not there
            finally:
                found.write()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hosts")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    found = Report(options.report)
    try:
        play_all(options.directory, options.only, found)
    except KeyboardInterrupt:
        found.failures["the run"] = "interrupted"
    except Exception as error:
        found.failures["the run"] = repr(error)
        traceback.print_exc()
    print(f"\n{report.page(found.figures, found.doors)}")
    for name, why in found.failures.items():
        print(f"FAILED {name}: {why}")
    wanted = [each.name for each in chosen(options.only)]
    print(report.summary(wanted, found.passed, found.failures), flush=True)
    return 0 if wanted and found.passed == wanted and not found.failures else 1


if __name__ == "__main__":
    sys.exit(main())
