from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register


class RunbooksConfig(AppConfig):
    name = "controlplane.runbooks"
    label = "runbooks"

    def ready(self) -> None:
        register(_runbooks_are_right)


def _runbooks_are_right(app_configs: Any, **_: Any) -> Sequence[CheckMessage]:
    """A service whose runbooks cannot be followed says so when it starts."""
    del app_configs
    from controlplane.runbooks.catalogue import catalogue
    from controlplane.runbooks.document import RunbookError

    try:
        catalogue()
    except (RunbookError, OSError) as error:
        return [Error(str(error), id="runbooks.E001")]
    return []
