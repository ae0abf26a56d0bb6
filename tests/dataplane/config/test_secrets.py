"""Values of secrets are in no message, whatever is wrong with them."""

from __future__ import annotations

import pytest

from dataplane.config import BROKER_CONFIGS, ConfigError, ConfigType, check_dynamic

SECRETS = sorted(name for name, key in BROKER_CONFIGS.items() if key.type is ConfigType.PASSWORD)
SCOPED = [f"listener.name.client.{name}" for name in SECRETS]


@pytest.mark.parametrize("cluster_wide", [True, False])
@pytest.mark.parametrize("name", [*SECRETS, *SCOPED, "ssl.key.pasword"])
def test_a_refused_change_does_not_repeat_its_value(name: str, cluster_wide: bool) -> None:
    said = ""
    try:
        key = check_dynamic(name, "hunter2-secret", cluster_wide=cluster_wide)
    except ConfigError as error:
        said = f"{error} {error.value}"
    else:
        assert key.is_sensitive
    assert "hunter2" not in said
