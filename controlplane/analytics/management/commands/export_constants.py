"""`manage.py export_constants [--check]`: tables that the frontend shares, for src/generated."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from controlplane.access.decisions.templates import TEMPLATES
from controlplane.administration.host_sentences import NOWHERE, REFUSALS
from controlplane.administration.host_sentences import SUMMARIES as HOST_SUMMARIES
from controlplane.clusters.placing_sentences import PLACED
from controlplane.common.kafka_configs import allowed_broker_values, topic_setting_table
from controlplane.healing.sentences import DECIDED
from controlplane.healing.waiting import WAITING
from controlplane.observed.drift_sentences import DIFFERENCES, PROBLEMS, UNREAD
from controlplane.operations.extents import TITLES
from controlplane.operations.operations import kind_names, required_kind
from controlplane.operations.sentences import PHRASES, WARNINGS
from controlplane.operations.sentences.details import DETAILS
from controlplane.operations.sentences.summaries import SUMMARIES
from controlplane.operations.states import OPERATION_MOVES, TERMINAL_STATES
from controlplane.reassignments.schedule_sentences import JUDGED
from spark_analytics.contracts.statuses import (
    RISK_SEVERITY,
    STATUS_SEVERITY,
    Risk,
    Severity,
    Status,
)

HEAD = """\
/** Made by `manage.py export_constants`; the service's own tables, not to be edited here. */
import type { components } from "./api";

type Schemas = components["schemas"];
"""
SENTENCES_HEAD = "/** Made by `manage.py export_constants` for tests alone: no page loads it. */\n"
TOPIC_SETTING = """
/** A setting as the brokers check it; bounds are null where it is no number. */
export interface TopicSetting {
  type: string;
  /** In words. */
  allowed: string;
  lowest: string | null;
  highest: string | null;
  choices: readonly string[];
  doc: string;
  /** Whether Penstock's own brokers obey it. */
  has_effect: boolean;
}
"""
SETTINGS_FILE = "settings.ts"
"""Beside the statuses, which every page needs: tables of forms, which the first view needs not."""

SENTENCES_FILE = "sentences.ts"
"""What the service says by a code: for tests, which hold the console's catalogue to it."""

# How the OpenAPI document calls what these are.
LAG_STATUS, RISK, OPERATION_STATE = (
    f'Schemas["{name}"]'
    for name in ("LagPointStatusEnum", "GroupExpiryStatusEnum", "OperationStateEnum")
)


class Command(BaseCommand):
    help = "Write statuses, terminal states, allowed settings and sentences as TypeScript."

    def add_arguments(self, parser: ArgumentParser) -> None:
        default = settings.REPOSITORY / "frontend" / "src" / "generated" / "constants.ts"
        parser.add_argument("--output", type=Path, default=default)
        parser.add_argument("--check", action="store_true", help="fail when it would change")

    def handle(self, *_: Any, output: Path, check: bool, **__: Any) -> None:
        texts = {
            output: constants(),
            output.with_name(SETTINGS_FILE): form_tables(),
            output.with_name(SENTENCES_FILE): sentences(),
        }
        for file, text in texts.items():
            if not check:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                self.stdout.write(f"wrote {file}")
            elif not file.exists() or file.read_text() != text:
                raise CommandError(f"{file} is out of date: run manage.py export_constants")


Table = tuple[str, str, str, Any]
"""What it is, its name, its type in TypeScript, its value."""


def exported(tables: list[Table]) -> str:
    return "".join(
        f"\n/** {comment} */\nexport const {name}: {kind} = {json.dumps(value)};\n"
        for comment, name, kind, value in tables
    )


def constants() -> str:
    """The text of the module of statuses."""
    terminal = [state for state in OPERATION_MOVES.states if state in TERMINAL_STATES]
    severities = " | ".join(json.dumps(severity) for severity in Severity)
    return f"{HEAD}\nexport type Severity = {severities};\n" + exported(
        [
            (
                "How a group does on a topic, from the best to the worst.",
                "LAG_STATUSES",
                f"readonly {LAG_STATUS}[]",
                list(Status),
            ),
            (
                "Of each status of a group.",
                "LAG_SEVERITY",
                f"Record<{LAG_STATUS}, Severity>",
                STATUS_SEVERITY,
            ),
            (
                "What retention does to a group's unread records, from the best to the worst.",
                "RISKS",
                f"readonly {RISK}[]",
                list(Risk),
            ),
            ("Of each risk.", "RISK_SEVERITY", f"Record<{RISK}, Severity>", RISK_SEVERITY),
            (
                "States from which an operation moves no more by itself.",
                "TERMINAL_STATES",
                f"readonly {OPERATION_STATE}[]",
                terminal,
            ),
        ]
    )


def sentences() -> str:
    """The text of the module of what the service says by a code."""
    kinds = [required_kind(name) for name in kind_names()]
    steps = {code: title for kind in kinds for code, title in kind.titles().items()}
    phrases = {
        **{name: group for name, group in PHRASES.items() if name != "extents"},
        "restores": {kind.name: kind.restores for kind in kinds if kind.restores},
        "final": {kind.name: kind.final for kind in kinds},
    }
    table = "Readonly<Record<string, string>>"
    return f"{SENTENCES_HEAD}" + exported(
        [
            ("What plans count of what they hit.", "EXTENTS", table, dict(TITLES)),
            ("What steps of operations are called.", "STEPS", table, steps),
            ("What plans and operations do, as templates.", "SUMMARIES", table, dict(SUMMARIES)),
            ("What steps say of themselves, as templates.", "STEP_DETAILS", table, dict(DETAILS)),
            (
                "What plans warn of, as templates (controlplane/common/sentences.py).",
                "WARNINGS",
                table,
                dict(WARNINGS),
            ),
            (
                "What is not as it was left, as templates.",
                "DIFFERENCES",
                table,
                dict(DIFFERENCES),
            ),
            (
                "Why what is not as it was left cannot be mended, as templates.",
                "DRIFT_PROBLEMS",
                table,
                dict(PROBLEMS),
            ),
            (
                "Why more may be known of who made it so, as templates.",
                "DRIFT_UNREAD",
                table,
                dict(UNREAD),
            ),
            (
                "What is said of hosts, each group as templates by their codes.",
                "HOSTS",
                "Readonly<Record<string, Readonly<Record<string, string>>>>",
                host_sentences(),
            ),
            ("What self-healing decides, as templates.", "HEALING", table, dict(DECIDED)),
            ("What scheduled rebalances say, as templates.", "REBALANCE", table, dict(JUDGED)),
            (
                "What codes in parameters of sentences are called, by the parameter's name.",
                "PHRASES",
                "Readonly<Record<string, Readonly<Record<string, string>>>>",
                phrases,
            ),
        ]
    )


def host_sentences() -> dict[str, dict[str, str]]:
    return {
        "summaries": dict(HOST_SUMMARIES),
        "refusals": dict(REFUSALS),
        "nowhere": dict(NOWHERE),
        "placed": dict(PLACED),
        "waiting": dict(WAITING),
    }


def form_tables() -> str:
    """The text of the module of what forms offer."""
    return f"{HEAD}{TOPIC_SETTING}" + exported(
        [
            (
                "What a tenant may set on brokers: key and allowed values.",
                "BROKER_SETTINGS",
                "Readonly<Record<string, string>>",
                allowed_broker_values(),
            ),
            (
                "What a tenant may set on topics; numbers are text, 64 bits are too many here.",
                "TOPIC_SETTINGS",
                "Readonly<Record<string, TopicSetting>>",
                topic_setting_table(),
            ),
            (
                "What kinds of applications need, as rules to be filled in.",
                "ACL_TEMPLATES",
                'readonly Schemas["AclTemplate"][]',
                [template.as_row() for template in TEMPLATES],
            ),
        ]
    )
