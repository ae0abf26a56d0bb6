"""`manage.py demo_credentials [--json]`: a ready-to-paste client configuration."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.access.demo import credentials
from controlplane.common.problems import Problem
from controlplane.gateway.errors import GatewayError
from controlplane.operations.models import Operation

POLL_S = 0.1


class Command(BaseCommand):
    help = "Make the demo client's user and ACLs; print its configuration."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json")
        parser.add_argument("--timeout-s", type=float, default=60.0)

    def handle(self, *_: Any, as_json: bool, timeout_s: float, **__: Any) -> None:
        started_s = time.monotonic()

        def wait(_operation: Operation) -> bool:
            time.sleep(POLL_S)
            return time.monotonic() - started_s < timeout_s

        try:
            client = credentials(wait=wait)
        except (Problem, GatewayError) as error:
            raise CommandError(str(error)) from error
        if as_json:
            self.stdout.write(json.dumps(client))
            return
        for name, value in client.items():
            if name != "cluster_id":
                self.stdout.write(f"{name}={value}")
