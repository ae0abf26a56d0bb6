"""ApiVersions (18), versions 0-4.

Behaviour: lists exactly the rows of `registry.HANDLED`. An unknown version is answered in version
0 with UNSUPPORTED_VERSION and this API's own range, so that the client can ask again (KIP-511).
Answerable before SASL authentication.
Version notes: 3 takes the client's software name and version and is flexible, but the response
header stays version 0.
Skipped: features (no feature is finalized, so Java clients stay on transactions of version 1) and
`zk_migration_ready` (there is no migration).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode
from dataplane.wire.apis import ApiKey
from dataplane.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


async def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    if context.header.api_version >= 3:
        name, version = request.client_software_name, request.client_software_version
        if not (_SOFTWARE.fullmatch(name) and _SOFTWARE.fullmatch(version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.connection.client_software_name = name
        context.connection.client_software_version = version
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=low, max_version=high)
            for key, (low, high) in sorted(HANDLED.items())
        ]
    )


def unsupported_version() -> ApiVersionsResponse:
    low, high = HANDLED[ApiKey.API_VERSIONS]
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=low, max_version=high)],
    )
