"""`manage.py provision_demo`: the cluster `demo` of three brokers, waited for until RUNNING."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.clusters.demo import bootstrap, provision
from controlplane.common.problems import Problem
from controlplane.operations.models import Operation

POLL_S = 0.2
HOST_WAIT_S = 20.0


class Command(BaseCommand):
    help = "Provision the demo cluster by the ordinary operation; idempotent."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--brokers", type=int, default=3, help="how many it has (3)")
        parser.add_argument("--timeout-s", type=float, default=120.0, help="how long to wait (120)")

    def handle(self, *_: Any, brokers: int, timeout_s: float, **__: Any) -> None:
        started_s = time.monotonic()

        def wait(_operation: Operation) -> bool:
            time.sleep(POLL_S)
            return time.monotonic() - started_s < timeout_s

        def progress(line: str) -> None:
            self.stdout.write(f"{time.monotonic() - started_s:5.1f} s  {line}")
            self.stdout.flush()

        bootstrap()
        while True:
            try:
                cluster = provision(brokers=brokers, progress=progress, wait=wait)
            except Problem as problem:
                # The agent may still be on its way up when we ask for the first time.
                waiting = problem.code in {"no-capacity", "zookeeper-away"}
                if waiting and time.monotonic() - started_s < HOST_WAIT_S:
                    time.sleep(POLL_S)
                    continue
                raise CommandError(problem.detail) from problem
            self.stdout.write(f"cluster {cluster.name} is {cluster.phase}: {cluster.id}")
            return
