"""Templates: the rules that a kind of application needs, as data that the frontend shares. Pure.

A rule names the field that its resource is called by; `suffix` is added to it. Nothing in a
template is more than Kafka asks of such a client; DESCRIBE is named though READ and WRITE imply it,
as `kafka-acls` does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from controlplane.access.decisions.authorizer import ANY_HOST, CLUSTER_NAME, grants
from controlplane.access.rules import ALLOW
from controlplane.gateway.types import EVERY_NAME, AclBinding

TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID = "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID"
PREFIXED, LITERAL = "PREFIXED", "LITERAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateField:
    """What a template asks for.

    Attributes:
        may_be_prefix: the person may say that every name that begins so is meant.
        is_required: without it there are no rules; else those alone that name it are left out.
    """

    name: str
    title: str
    hint: str
    may_be_prefix: bool = True
    is_required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRule:
    """Attributes: `field` is the one whose value is the name; none: `name` is the name itself.

    `is_prefix`: always a prefix; else as the person says of the field.
    """

    resource_type: str
    operations: tuple[str, ...]
    field: str | None = None
    name: str = ""
    suffix: str = ""
    is_prefix: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    name: str
    title: str
    text: str
    asks: tuple[TemplateField, ...]
    rules: tuple[TemplateRule, ...]

    def as_row(self) -> dict[str, Any]:
        row: dict[str, Any] = asdict(self)
        return row


_TOPIC = TemplateField(name="topic", title="Topic", hint="orders.created")
TEMPLATES: tuple[Template, ...] = (
    Template(
        name="consumer",
        title="Consumer",
        text="Reads topics in a consumer group and commits its offsets.",
        asks=(
            _TOPIC,
            TemplateField(
                name="group",
                title="Consumer group",
                hint="orders-workers",
                is_required=False,
            ),
        ),
        rules=(
            TemplateRule(resource_type=TOPIC, operations=("READ", "DESCRIBE"), field="topic"),
            TemplateRule(resource_type=GROUP, operations=("READ",), field="group"),
        ),
    ),
    Template(
        name="producer",
        title="Producer",
        text="Writes to topics, idempotently if it likes: that needs no rule of its own.",
        asks=(_TOPIC,),
        rules=(TemplateRule(resource_type=TOPIC, operations=("WRITE", "DESCRIBE"), field="topic"),),
    ),
    Template(
        name="transactional-producer",
        title="Transactional producer",
        text="Writes to topics in transactions under a transactional id of its own.",
        asks=(
            _TOPIC,
            TemplateField(
                name="transactional_id", title="Transactional id", hint="orders-writer-1"
            ),
        ),
        rules=(
            TemplateRule(resource_type=TOPIC, operations=("WRITE", "DESCRIBE"), field="topic"),
            TemplateRule(
                resource_type=TRANSACTIONAL_ID,
                operations=("WRITE", "DESCRIBE"),
                field="transactional_id",
            ),
        ),
    ),
    Template(
        name="streams",
        title="Streams application",
        text=(
            "Reads and writes topics as one application, which makes and removes topics of its own:"
            " they, its group and its transactional ids begin with the application id."
        ),
        asks=(
            TemplateField(
                name="application_id",
                title="Application id",
                hint="orders-totals",
                may_be_prefix=False,
            ),
            TemplateField(name="input", title="Topic that it reads", hint="orders.created"),
            TemplateField(
                name="output",
                title="Topic that it writes",
                hint="orders.totals",
                is_required=False,
            ),
        ),
        rules=(
            TemplateRule(resource_type=TOPIC, operations=("READ", "DESCRIBE"), field="input"),
            TemplateRule(resource_type=TOPIC, operations=("WRITE", "DESCRIBE"), field="output"),
            TemplateRule(
                resource_type=TOPIC,
                operations=("READ", "WRITE", "CREATE", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS"),
                field="application_id",
                suffix="-",
                is_prefix=True,
            ),
            TemplateRule(
                resource_type=GROUP, operations=("READ", "DESCRIBE"), field="application_id"
            ),
            TemplateRule(
                resource_type=TRANSACTIONAL_ID,
                operations=("WRITE", "DESCRIBE"),
                field="application_id",
                suffix="-",
                is_prefix=True,
            ),
        ),
    ),
    Template(
        name="read-only-admin",
        title="Read-only admin",
        text="Sees topics, groups, settings and the cluster; reads no record and changes nothing.",
        asks=(),
        rules=(
            TemplateRule(
                resource_type=TOPIC, operations=("DESCRIBE", "DESCRIBE_CONFIGS"), name=EVERY_NAME
            ),
            TemplateRule(
                resource_type=GROUP, operations=("DESCRIBE", "DESCRIBE_CONFIGS"), name=EVERY_NAME
            ),
            TemplateRule(resource_type=TRANSACTIONAL_ID, operations=("DESCRIBE",), name=EVERY_NAME),
            TemplateRule(
                resource_type=CLUSTER,
                operations=("DESCRIBE", "DESCRIBE_CONFIGS"),
                name=CLUSTER_NAME,
            ),
        ),
    ),
)


def expand(
    template: Template,
    principal: str,
    values: Mapping[str, str],
    prefixes: Sequence[str] = (),
) -> list[AclBinding]:
    """The exact rules; none while a required field is empty.

    `values` are by field, empty ones not said; `prefixes` are the fields of which every name that
    begins so is meant.
    """
    if any(field.is_required and not values.get(field.name) for field in template.asks):
        return []
    return [
        AclBinding(
            principal=principal,
            host=ANY_HOST,
            operation=operation,
            permission=ALLOW,
            resource_type=rule.resource_type,
            resource_name=_name(rule, values),
            pattern_type=PREFIXED if rule.is_prefix or rule.field in prefixes else LITERAL,
        )
        for rule in template.rules
        if rule.field is None or values.get(rule.field)
        for operation in rule.operations
    ]


def _name(rule: TemplateRule, values: Mapping[str, str]) -> str:
    return rule.name if rule.field is None else values[rule.field] + rule.suffix


def granting(resource_type: str, operation: str) -> list[str]:
    """Names of the templates of which a rule allows this."""
    return [
        template.name
        for template in TEMPLATES
        if any(
            rule.resource_type == resource_type
            and any(grants(each, operation) for each in rule.operations)
            for rule in template.rules
        )
    ]
