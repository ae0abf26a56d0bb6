"""DescribeConfigs (32), versions 0-4: settings of topics, groups, this broker, its loggers.

Behaviour: needs DescribeConfigs on the topic or group, or on the cluster for brokers. A broker
describes itself (resource name = its id) or what is set for all (empty name). Sensitive values are
null.
Version notes: 0 has is_default; 1+ source and synonyms; 3+ type and documentation.
Skipped: resource type client metrics (INVALID_REQUEST).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.metadata.config_admin import Resource
from dataplane.cluster.config_entries import ConfigSource
from dataplane.handlers.config_access import require
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.cluster.config_entries import ConfigEntry
    from dataplane.wire.messages.describe_configs import DescribeConfigsResource


async def handle(
    context: RequestContext, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    # As in Kafka the truth is read again: the change may have been made through another broker.
    await context.broker.configs.reload_topics(
        {r.resource_name for r in request.resources if r.resource_type == Resource.TOPIC}
    )
    await context.broker.configs.reload_groups(
        {r.resource_name for r in request.resources if r.resource_type == Resource.GROUP} - {""}
    )
    return DescribeConfigsResponse(
        results=[_describe(context, request, resource) for resource in request.resources]
    )


def _describe(
    context: RequestContext, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
    keys = resource.configuration_keys
    # Before version 1 clients spell "all keys" as an empty list too.
    wanted = set(keys) if keys else None
    try:
        require(
            context, AclOperation.DESCRIBE_CONFIGS, resource.resource_type, resource.resource_name
        )
        entries = context.broker.config_admin.describe(
            resource.resource_type, resource.resource_name, wanted
        )
        result.configs = [_entry(request, entry) for entry in entries]
    except KafkaError as error:
        result.error_code = error.code
        result.error_message = error.message
    else:
        result.error_code = ErrorCode.NONE
    return result


def _entry(request: DescribeConfigsRequest, entry: ConfigEntry) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.key.name,
        value=entry.value,
        read_only=entry.read_only,
        is_default=entry.source is ConfigSource.DEFAULT,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=item.name, value=item.value, source=item.source)
            for item in synonyms
        ],
        config_type=entry.key.type,
        documentation=(entry.key.doc or None) if request.include_documentation else None,
    )
