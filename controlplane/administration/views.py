"""The base of every view above tenants."""

from typing import cast

from controlplane.audit.services import Actor
from controlplane.tenants.permissions import OperatorPermission
from controlplane.tenants.views import CheckedView


class OperatorView(CheckedView):
    """What operators of the platform do above tenants: under `/api/v1/operator/`."""

    permission_classes = (OperatorPermission,)

    @property
    def actor(self) -> Actor:
        return cast("Actor", self.request.operator)  # type: ignore[attr-defined] # set by OperatorPermission
