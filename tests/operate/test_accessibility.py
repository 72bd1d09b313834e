"""The page with a keyboard, on a phone and for a screen reader, in a real browser."""

from __future__ import annotations

import pytest

from tests.operate.accessibility import (
    READY,
    SCHEMES,
    SCREENS,
    axe_core,
    operated,
    served,
    violations,
)
from tests.operate.browser import PROGRAM, browser

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium"),
    pytest.mark.slow,
]
ACTIVE = "document.activeElement"
TAB, ENTER, ESCAPE = ("Tab", 9), ("Enter", 13, "\r"), ("Escape", 27)
TABS = 60
SMALLEST_TARGET = 24


@pytest.fixture(scope="module")
def chromium():
    with browser() as page:
        yield page


@pytest.fixture
def job():
    return operated()


@pytest.fixture
def shown(chromium, job):
    """Show the list, or the job, on a screen."""
    with served(job) as url:

        def show(what, screen="wide", scheme="light"):
            chromium.screen(*SCREENS[screen], dark=scheme == "dark", phone=screen == "phone")
            chromium.open(f"{url}#{job.id if what == 'job' else ''}", READY)
            return chromium

        yield show


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("what", ["list", "job"])
def test_axe_core_finds_nothing(shown, what, screen, scheme):
    page = shown(what, screen, scheme)
    assert page.run("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
    assert violations(page, axe_core()) == []


def test_axe_core_finds_what_is_wrong(shown):
    page = shown("list")
    page.run("document.querySelector('main').append(document.createElement('img'))")
    assert [rule for rule, *_ in violations(page, axe_core())] == ["image-alt"]


@pytest.mark.parametrize("what", ["list", "job"])
def test_a_phone_scrolls_tables_but_not_the_page(shown, what):
    page = shown(what, "phone")
    assert page.run("innerWidth") == SCREENS["phone"][0]
    assert page.run("document.documentElement.scrollWidth") <= SCREENS["phone"][0]
    sizes = "[...document.querySelectorAll('main button, summary')].map((each) => {"
    sizes += "const box = each.getBoundingClientRect(); return Math.min(box.width, box.height); })"
    assert all(size >= SMALLEST_TARGET for size in page.run(sizes))


def focused(page):
    return page.run(f"{ACTIVE}.textContent.trim()")


def tab_to(page, text):
    """Press Tab until an element has the focus; return the texts of those before."""
    passed = []
    for _ in range(TABS):
        page.press(*TAB)
        if focused(page) == text:
            outline = page.run(f"getComputedStyle({ACTIVE}).outlineStyle")
            assert outline != "none", "the focus is not visible"
            return passed
        passed.append(focused(page))
    raise AssertionError(f"Tab does not lead to {text}: {passed}")


def test_a_job_is_opened_and_operated_with_the_keyboard(shown, job):
    page = shown("list")
    assert tab_to(page, job.job.name)[0] == "To the content"
    page.press(*ENTER)
    page.wait("document.querySelectorAll('main button:not(.zoom)').length === 3")
    tab_to(page, "Stop")
    page.press(*ENTER)
    page.wait("document.getElementById('dialog').open")
    assert page.run(f"document.getElementById('dialog').contains({ACTIVE})")
    page.run("refresh()")
    page.press(*ESCAPE)
    page.wait("!document.getElementById('dialog').open")
    assert focused(page) == "Stop"
    assert job.handle.asked == []
    page.run("refresh()")
    assert focused(page) == "Stop"
    page.press(*ENTER)
    page.wait("document.getElementById('dialog').open")
    tab_to(page, "OK")
    page.press(*ENTER)
    page.wait("document.getElementById('connection').textContent.startsWith('Stopped with')")
    assert [each[0] for each in job.handle.asked] == ["stop"]


def test_sections_open_with_the_keyboard(shown):
    page = shown("job")
    tab_to(page, "Configuration")
    page.press(*ENTER)
    page.wait("document.getElementById('configuration').open")
    page.run("refresh()")
    assert page.run("document.getElementById('configuration').open")
    assert focused(page) == "Configuration"
