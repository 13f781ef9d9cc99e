"""The page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compare.browser import Browser, chromium
from tests.report.made import FILES, tool

BROWSER = chromium()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed here")


@pytest.fixture(scope="module")
def page(legacy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page") / "review.html"
    place.write_bytes(tool(".", "--format", "html", cwd=legacy).stdout)
    return place


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert BROWSER is not None
    one = Browser(BROWSER, tmp_path_factory.mktemp("browser") / "profile")
    yield one
    one.close()
    shutil.rmtree(tmp_path_factory.getbasetemp() / "browser", ignore_errors=True)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_asks_for_nothing(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width, dark=dark)
    assert browser.messages == []
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    dark_paper = browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    assert dark_paper == dark
    old, new = (
        browser.evaluate(f"getComputedStyle(document.querySelector('tr.change .{side}:not(.none)')).display")
        for side in ("old", "new")
    )
    assert (old, new) == (("block", "block") if width == 390 else ("table-cell", "table-cell"))


def test_what_is_by_hand_comes_first(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    kinds = browser.evaluate("[...document.querySelectorAll('#open .site')].map(one => one.dataset.kind)")
    assert kinds[0] == "manual"
    order = ["manual", "review", "info"]
    assert kinds == sorted(kinds, key=order.index)


def test_nothing_hostile_becomes_markup(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.querySelectorAll('b').length") == 0
    text = browser.evaluate("document.body.textContent")
    assert "</script><script>alert(2)</script>" in text, "the source is shown, and does nothing"
    assert "sub/<b>bold@nobody`tick|bar.py" in text
    assert "\u202e" not in text
    assert "sub/line^Jend,colon:%.py" in text


def test_ticks_are_counted_and_outlive_the_page(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    browser.evaluate("localStorage.clear()")
    browser.open(page, 1280)
    assert browser.evaluate("document.getElementById('progress').textContent").startswith("0 of ")
    browser.evaluate("document.querySelector('#open .tick').click()")
    assert browser.evaluate("document.getElementById('progress').textContent").startswith("1 of ")
    key = browser.evaluate("document.querySelector('#open .tick').dataset.key")
    same = browser.evaluate(f"[...document.querySelectorAll('[data-key=\"{key}\"]')].every(box => box.checked)")
    assert same, "the same site beside its diff is ticked as well"
    browser.open(page, 390)
    assert browser.evaluate("document.querySelector('#open .tick').checked")
    assert browser.evaluate("document.getElementById('progress').textContent").startswith("1 of ")


def test_filters_hide_what_is_not_asked_for(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    shown = "[...document.querySelectorAll('#open .site')].filter(one => !one.hidden).map(one => one.dataset.kind)"
    browser.evaluate("document.querySelector('#filter [name=manual]').click()")
    assert "manual" not in browser.evaluate(shown)
    assert "review" in browser.evaluate(shown)
    browser.evaluate("document.querySelector('#filter [name=review]').click()")
    assert set(browser.evaluate(shown)) <= {"info"}
    browser.open(page, 1280)
    rule = browser.evaluate(
        "(() => { const s = document.getElementById('rule'); s.value = 'APX021'; s.dispatchEvent(new Event('change'));"
        " return [...document.querySelectorAll('.site')].filter(one => !one.hidden).map(one => one.dataset.rule) })()"
    )
    assert set(rule) == {"APX021"}


def test_links_lead_to_the_line_and_open_what_is_folded(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    link = browser.evaluate("document.querySelector('#open a[href*=L]').getAttribute('href')")
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false })")
    browser.evaluate(f"location.hash = {link!r}; new Promise(done => setTimeout(done, 300))")
    assert browser.evaluate(f"document.querySelector({link!r}).closest('details').open")
    row = browser.evaluate(f"document.querySelector({link!r}).querySelector('.old').textContent")
    number = int(link.rpartition("L")[2])
    assert row in {
        data.decode("latin-1").splitlines()[number - 1] for data in FILES.values() if data.count(b"\n") >= number
    }
