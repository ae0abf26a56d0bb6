"""`manage.py bootstrap_demo [--json]`: the operator, the demo tenant and a key."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from controlplane.clusters.demo import bootstrap


class Command(BaseCommand):
    help = "Make the operator, the demo tenant and an API key; idempotent."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="for scripts")

    def handle(self, *_: Any, as_json: bool, **__: Any) -> None:
        access = asdict(bootstrap())
        if as_json:
            self.stdout.write(json.dumps(access))
            return
        for name, value in access.items():
            self.stdout.write(f"{name:10} {value}")
