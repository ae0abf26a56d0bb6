"""What steps say while they run and when they have ended, each part by its code. Pure.

The console has its own words for each; a test holds its catalogue to this table.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.operations.sentences.details.common import COMMON

LEAD: Final = "lead/"
"""What codes begin with that lead in the part behind them: `waiting:`."""

_TABLES = (COMMON,)
DETAILS: Final[Mapping[str, str]] = {
    code: template for table in _TABLES for code, template in table.items()
}
