"""Each API key and each user has a rate of its own, wherever the requests come from."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from controlplane.common.ratelimit import KEY, USER, seconds_to_wait
from controlplane.tenants.models import ApiKey

if TYPE_CHECKING:
    from rest_framework.views import APIView


class CallerThrottle(BaseThrottle):
    """Who is nobody is limited by address alone (`common.middleware`)."""

    _wait_s: int | None = None

    def allow_request(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002 - DRF's hook
        if isinstance(request.auth, ApiKey):
            self._wait_s = seconds_to_wait(KEY, request.auth.pk)
        elif isinstance(request.user, User):
            self._wait_s = seconds_to_wait(USER, str(request.user.pk))
        return self._wait_s is None

    def wait(self) -> float | None:
        return self._wait_s
