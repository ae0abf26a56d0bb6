"""The base of every view under `/api/v1`."""

from typing import cast

from rest_framework.views import APIView

from controlplane.tenants.context import AccessContext
from controlplane.tenants.models import Tenant


class TenantView(APIView):
    """Gives a view its tenant. Reads need any role, writes operator; `needs` raises that."""

    needs = "write"

    @property
    def access(self) -> AccessContext:
        return cast("AccessContext", self.request.access)  # type: ignore[attr-defined] # set by TenantPermission

    @property
    def tenant(self) -> Tenant:
        return self.access.tenant
