"""What steps say while they run, when they have ended and fail, and what remains, by codes. Pure.

The console has its own words for each; a test holds its catalogue to this table.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.operations.sentences.details.access import ACCESS
from controlplane.operations.sentences.details.brokers import BROKERS
from controlplane.operations.sentences.details.clusters import CLUSTERS
from controlplane.operations.sentences.details.common import COMMON
from controlplane.operations.sentences.details.failures import FAILURES
from controlplane.operations.sentences.details.groups import GROUPS
from controlplane.operations.sentences.details.reassignments import REASSIGNMENTS
from controlplane.operations.sentences.details.remains import REMAINS
from controlplane.operations.sentences.details.rolls import ROLLS
from controlplane.operations.sentences.details.shared import SHARED
from controlplane.operations.sentences.details.topics import TOPICS

LEAD: Final = "lead/"
"""What codes begin with that lead in the part behind them: `waiting:`."""
TAIL: Final = "tail/"
"""What codes begin with that end the part before them: `as broker 2 says`."""
WHOLE: Final = ("remains/", "failed/")
"""What codes begin with that are whole sentences, with a full stop."""

_TABLES = (
    *(ACCESS, BROKERS, CLUSTERS, COMMON, FAILURES, GROUPS, REASSIGNMENTS, REMAINS, ROLLS, SHARED),
    TOPICS,
)
DETAILS: Final[Mapping[str, str]] = {
    code: template for table in _TABLES for code, template in table.items()
}
