"""How drf-spectacular names the two ways in."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[misc] # untyped base
    target_class = "controlplane.tenants.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002 - a hook
        return {"type": "http", "scheme": "bearer", "bearerFormat": "psk_…"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[misc] # see above
    target_class = "controlplane.tenants.authentication.ConsoleSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002 - a hook
        return {"type": "apiKey", "in": "cookie", "name": "penstock_session"}
