"""Every sealed value of the database: under which key it stands, and re-sealing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models

from controlplane.common.crypto import keyring
from controlplane.common.fields import SealedField
from controlplane.common.keyring import KeyUse, SecretUnreadableError

PAGE_ROWS = 500
Column = tuple[type[models.Model], str]


@dataclass(slots=True)
class Tally:
    """Values by the key they stand under, and how many of the old ones were re-sealed."""

    current: int = 0
    old: int = 0
    unreadable: int = 0
    resealed: int = 0

    def add(self, use: KeyUse) -> None:
        setattr(self, use.value, getattr(self, use.value) + 1)

    @property
    def is_clean(self) -> bool:
        return not self.old and not self.unreadable


def sealed_columns() -> list[Column]:
    """Of all models: columns that hold what `seal` made."""
    return [
        (model, field.name)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.concrete_fields
        if isinstance(field, SealedField)
    ]


def name_of(column: Column) -> str:
    return f"{column[0]._meta.label}.{column[1]}"


def tally(column: Column) -> Tally:
    """Read only. Raises KeysUnusableError."""
    found, keys = Tally(), keyring()
    for _, token in _values(column):
        found.add(keys.use_of(token))
    return found


def reseal(column: Column) -> Tally:
    """Bring every value under the first key. May run twice, and goes on where it was stopped.

    A value that somebody else writes meanwhile is left as written: whoever seals does it with the
    first key. Unreadable ones are counted and left. Raises KeysUnusableError.
    """
    model, name = column
    found, keys = Tally(), keyring()
    for pk, token in _values(column):
        use = keys.use_of(token)
        if use is KeyUse.OLD:
            try:
                sealed = keys.reseal(token)
            except SecretUnreadableError:
                use = KeyUse.UNREADABLE
            else:
                rows = _rows(model).filter(pk=pk, **{name: token})
                found.resealed += rows.update(**{name: sealed})
                use = KeyUse.CURRENT
        found.add(use)
    return found


def _rows(model: type[models.Model]) -> models.QuerySet[models.Model]:
    """All of them, whatever the model's own manager leaves out."""
    return models.QuerySet(model)


def _values(column: Column) -> Iterator[tuple[Any, str]]:
    """Primary key and token, by pages, so that no transaction holds the table."""
    model, name = column
    rows = _rows(model).exclude(**{name: ""}).order_by("pk").values_list("pk", name)
    page = list(rows[:PAGE_ROWS])
    while page:
        yield from page
        page = list(rows.filter(pk__gt=page[-1][0])[:PAGE_ROWS])
