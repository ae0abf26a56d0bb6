"""Who wants to know of proposals that wait for a person: apps above this one, which it knows not.

They say so in their `apps.py` (`use_teller`); what they do is of the case's own transaction.
"""

from collections.abc import Callable

from controlplane.healing.models import HealingCase

Teller = Callable[[HealingCase, str], None]
"""A case in its new state, and the state that it was in."""
_TELLERS: dict[str, Teller] = {}


def use_teller(name: str, teller: Teller) -> None:
    """Of one name there is one, however often an app is set up."""
    _TELLERS[name] = teller


def tell(case: HealingCase, before: str) -> None:
    for teller in _TELLERS.values():
        teller(case, before)
