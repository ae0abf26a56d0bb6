import pytest

for name in ("brokers", "groups", "host", "hosts", "incident", "objectives", "parts"):
    pytest.register_assert_rewrite(f"{__name__}.{name}")
