"""`manage.py export_openapi [--check]`: the OpenAPI document for frontend/openapi.json.

A warning of the generator fails it: for instance two components of one name, of which the document
has one.
"""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator


class Command(BaseCommand):
    help = "Write the REST API's OpenAPI document."

    def add_arguments(self, parser: ArgumentParser) -> None:
        default = settings.REPOSITORY / "frontend" / "openapi.json"
        parser.add_argument("--output", type=Path, default=default)
        parser.add_argument("--check", action="store_true", help="fail when it would change")

    def handle(self, *_: Any, output: Path, check: bool, **__: Any) -> None:
        GENERATOR_STATS.reset()
        schema = SchemaGenerator().get_schema(request=None, public=True)
        if GENERATOR_STATS:
            raise CommandError("The document has warnings; they are printed above.")
        text = json.dumps(schema, indent=2, sort_keys=True, default=str) + "\n"
        if check:
            if not output.exists() or output.read_text() != text:
                raise CommandError(f"{output} is out of date: run manage.py export_openapi")
            return
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
        self.stdout.write(f"wrote {output} ({len(schema['paths'])} paths)")
