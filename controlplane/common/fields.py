"""Columns of a kind of their own."""

from typing import TYPE_CHECKING, Any

from django.db import models

from controlplane.common.crypto import TOKEN_BEGINS

if TYPE_CHECKING:
    _Text = models.TextField[str, str]
else:
    _Text = models.TextField


class SealedField(_Text):
    """What `crypto.seal` made, or empty. By this class re-sealing finds every sealed value.

    For the database it is text, and migrations say so. Anything else than a token is refused: a
    secret that somebody forgot to seal is never written.
    """

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        if isinstance(prepared, str) and prepared and not prepared.startswith(TOKEN_BEGINS):
            raise ValueError(f"{self.model.__name__}.{self.name} takes sealed values only")
        return prepared

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs
