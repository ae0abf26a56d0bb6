"""Pages of observed lists, for the REST views of the apps that know what the rows are."""

from collections.abc import Callable
from typing import Any

from rest_framework.request import Request

from controlplane.common.paging import page_of_rows
from controlplane.common.problems import field_problem
from controlplane.observed.listings import SEARCH_MAX
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.selectors import Section, cut, rows_to_cut
from controlplane.observed.services import observed_section

Render = Callable[[ObservedRow, Section], dict[str, Any]]


def observed_list(request: Request, reader: Reader, name: str, render: Render) -> dict[str, Any]:
    """One page of a section with its age: `{data, page, observed}`; `q` searches in the keys.

    Raises:
        Problem: the section was never read, and cannot be now, or the reader does not see it.
    """
    search = request.query_params.get("q", "")
    if len(search) > SEARCH_MAX:
        raise field_problem("/q", f"q has at most {SEARCH_MAX} characters.")
    at = observed_section(reader, name)
    rows = rows_to_cut(reader, name, search)
    page = page_of_rows(request, rows, "key", lambda row: render(cut(reader, row), at))
    return {**page, "observed": at.as_row()}
