"""What is open at the moment, in both widths and schemes: a picture, axe, and nothing that sticks out."""

from pathlib import Path

from playwright.sync_api import Page

from tests.e2e import accessibility
from tests.e2e.conftest import DESKTOP, PHONE


def look(page: Page, directory: Path, name: str) -> None:
    """Nothing is loaded anew for it; in the end the page is as it was."""
    axe = accessibility.axe_source()
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            accessibility.in_scheme(page, scheme)
            path = directory / f"{name}-{size['width']}-{scheme}.png"
            page.screenshot(path=path, animations="disabled")
            found = accessibility.violations(page, axe)
            assert found == [], f"{name}, {size['width']} px, {scheme}"
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, f"{name} is {width} px wider than {size['width']} px"
    page.set_viewport_size(DESKTOP)
    accessibility.in_scheme(page, "light")
