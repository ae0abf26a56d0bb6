"""The list of kinds is as the kinds are."""

import pytest

from controlplane.operations.operations import OperationKind, kind_names, required_kind
from tests.controlplane.kind_table import FILE, render


def test_the_document_shows_the_kinds():
    assert FILE.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize("name", kind_names())
def test_a_kind_says_what_its_undo_does_exactly_when_it_has_one(name):
    """What the list says is the kind's own word; this holds the word against the code."""
    kind = required_kind(name)
    assert bool(kind.restores) == (type(kind).undo is not OperationKind.undo)
