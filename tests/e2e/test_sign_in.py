"""Coming in: wrong passwords, the way back to where one wanted to go, by keyboard alone."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.service import Address


def test_a_wrong_password_says_so_and_lets_nobody_in(stranger: Page, address: Address) -> None:
    stranger.goto("/")
    stranger.get_by_label("User name").fill(address.username)
    stranger.get_by_role("textbox", name="Password").fill("not the password")
    stranger.get_by_role("button", name="Sign in").click()
    expect(stranger.get_by_role("alert")).to_contain_text("User name or password is wrong")
    expect(stranger).to_have_url(re.compile("/login"))


def test_by_keyboard_alone_to_the_page_that_was_asked_for(stranger: Page, address: Address) -> None:
    stranger.goto("/operations")
    stranger.wait_for_url(re.compile(r"/login\?next="))
    expect(stranger.get_by_label("User name")).to_be_focused()
    stranger.keyboard.type(address.username)
    stranger.keyboard.press("Tab")
    stranger.keyboard.type(address.password)
    stranger.keyboard.press("Enter")
    expect(stranger.get_by_role("heading", name="Operations", level=1)).to_be_visible()
    expect(stranger).to_have_url(re.compile("/operations$"))


def test_signed_out_is_out(stranger: Page, address: Address) -> None:
    stranger.goto("/login")
    stranger.get_by_label("User name").fill(address.username)
    stranger.get_by_role("textbox", name="Password").fill(address.password)
    stranger.get_by_role("button", name="Sign in").click()
    stranger.get_by_role("button", name="Account").click()
    stranger.get_by_role("menuitem", name="Sign out").click()
    expect(stranger).to_have_url(re.compile("/login"))
    stranger.goto("/audit")
    expect(stranger).to_have_url(re.compile("/login"))


def test_a_session_that_ends_is_opened_again_in_place(stranger: Page, address: Address) -> None:
    """What was typed is still there, and the page goes on."""
    stranger.goto("/clusters/new")
    stranger.get_by_label("User name").fill(address.username)
    stranger.get_by_role("textbox", name="Password").fill(address.password)
    stranger.get_by_role("button", name="Sign in").click()
    name = stranger.get_by_role("textbox", name="Name", exact=True)
    name.fill("typed-before")
    stranger.context.clear_cookies()
    dialog = stranger.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    expect(stranger.get_by_text(re.compile("^Stale since"))).to_be_visible()
    password = dialog.get_by_label(f"Password of {address.username}")
    expect(password).to_be_focused()
    password.fill(address.password)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_have_count(0)
    expect(name).to_have_value("typed-before")
    expect(stranger).to_have_url(re.compile("/clusters/new"))
    expect(stranger.get_by_text(re.compile("^(Live|Polling)$|running$"))).to_be_visible()
