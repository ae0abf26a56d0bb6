"""What steps of every kind may say: how results are read back, and what leads in other parts."""

from collections.abc import Mapping
from typing import Final

_BROKERS = "{count:one=broker|other=brokers} {brokers}"

COMMON: Final[Mapping[str, str]] = {
    # What a broker, ZooKeeper or an agent said, in its own words.
    "as-it-came": "{said}",
    "lead/brokers": f"{_BROKERS}:",
    "lead/unknown": "unknown:",
    "database/silent": "the database did not answer: {reason}",
    "read-back/as-planned": "read back as planned",
    "read-back/silent": f"{_BROKERS} did not answer",
    "read-back/refused": f"{_BROKERS} refused ({{error}})",
    "read-back/none-live": "no broker is live",
    "read-back/asked": ("asked {asked} of {brokers:one=# broker|other=# brokers} so far"),
    "read-back/again": "asked again",
}
