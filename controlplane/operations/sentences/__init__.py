"""What plans warn of, each sentence by its code, and phrases that are put into them. Pure.

The code of a sentence begins with the warning's own code: `leaders-move/roll` is a sentence of
`leaders-move`. It is what others go by: the console has its own words for it, and a test holds its
catalogue to these tables.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.common.sentences import Params, Phrases, rendered
from controlplane.operations.extents import TITLES
from controlplane.operations.sentences.access import ACCESS, QUOTAS
from controlplane.operations.sentences.clusters import CLUSTERS
from controlplane.operations.sentences.hosts import HOSTS
from controlplane.operations.sentences.partitions import PARTITIONS
from controlplane.operations.sentences.plans import PLANS
from controlplane.operations.sentences.rolls import ROLLS
from controlplane.operations.sentences.topics import TOPICS

_TABLES = (TOPICS, ACCESS, CLUSTERS, ROLLS, PARTITIONS, PLANS, HOSTS)
WARNINGS: Final[Mapping[str, str]] = {
    code: template for table in _TABLES for code, template in table.items()
}
PHRASES: Final[Phrases] = {"extents": TITLES, "quotas": QUOTAS}
"""By the name of a parameter that holds codes: what each is called in English."""


def warning_text(code: str, params: Params, phrases: Phrases | None = None) -> str:
    """The sentence of this code in English; `phrases` are those of kinds, which come from them.

    Raises:
        KeyError: there is none.
        SentenceError: it takes other parameters.
    """
    return rendered(WARNINGS[code], params, {**PHRASES, **(phrases or {})})
