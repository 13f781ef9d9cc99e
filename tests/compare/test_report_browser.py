"""report.html in a real browser: a phone and a desktop, light and dark, measured in the page."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compare.figures import render
from compare.report import build as build_module
from compare.report.build import report_files
from tests.compare.browser import FLAGS, Browser, chromium
from tests.compare.sample import make_results

_CHROMIUM = chromium()
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="no chromium: neither /usr/bin/chromium nor one on PATH")

PHONE, DESKTOP = 390, 1280
SMOKE_ARMS = ("fp32", "native-bf16", "native-fp16")
WIDTHS = pytest.mark.parametrize("width", [PHONE, DESKTOP])
PAGES = pytest.mark.parametrize("name", ["full", "smoke", "one", "hostile"])
_LONG = "<b>" + "averyverylongwordwithoutanyspace/" * 12

# Contrast of every text against the nearest background that is painted, as WCAG 2 defines it.
_CONTRAST = """(() => {
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const line = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = rgb => { const f = rgb.slice(0, 3).map(line);
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) return colour;
    }
    return [255, 255, 255, 1]; };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    const box = text.parentElement.getClientRects();
    if (!text.data.trim() || !box.length) continue;
    const a = light(parse(getComputedStyle(text.parentElement).color)), b = light(behind(text.parentElement));
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text.data.trim().slice(0, 40)]); }
  return found; })()"""

# Elements that stand out of the page on its right, other than what scrolls in a box of its own.
_STICKING_OUT = """[...document.querySelectorAll('body *')]
  .filter(e => !e.closest('.wide, pre') || e.matches('.wide, pre'))
  .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5)
  .map(e => e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 30))"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of four sessions: nine arms and a NaN run, smoke, one arm, texts of a hostile length."""
    results = {
        "full": make_results(nan=True, unavailable=("apex-o2",)),
        "smoke": make_results(SMOKE_ARMS, trained=SMOKE_ARMS, seeds=1, epochs=1, smoke=True, sweep=False),
        "one": make_results(("native-fp16",), trained=("native-fp16",), seeds=1),
        "hostile": make_results(("fp32", "apex-o1"), unavailable=("apex-o1",), reason=_LONG, sweep=False, epochs=2),
    }
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        # The page holds the SVG alone.
        patch.setattr(build_module, "render", lambda figure, kind: render(figure, kind) if kind == "svg" else b"PNG")
        files = {name: report_files(one) for name, one in results.items()}
    for name, one in files.items():
        (folder / f"{name}.html").write_bytes(one["report.html"])
    return {name: folder / f"{name}.html" for name in results}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert _CHROMIUM is not None
    opened = Browser(_CHROMIUM, tmp_path_factory.mktemp("browser") / "profile")
    yield opened
    opened.close()


def boxes(browser: Browser, selector: str) -> list[dict[str, float]]:
    found: list[dict[str, float]] = browser.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})].map(e => {{ const b = e.getBoundingClientRect(); "
        "return {left: b.left, right: b.right, top: b.top, bottom: b.bottom, width: b.width, height: b.height}; })"
    )
    return found


@PAGES
@WIDTHS
def test_nothing_makes_the_page_wider_than_the_screen(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    browser.open(pages[name], width)
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate(_STICKING_OUT) == []


def test_wide_tables_scroll_in_their_own_box(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["full"], PHONE)
    hidden: list[tuple[float, str, str]] = browser.evaluate(
        "[...document.querySelectorAll('section .wide')]"
        ".map(e => [e.scrollWidth - e.clientWidth, getComputedStyle(e).overflowX, getComputedStyle(e).backgroundImage])"
    )
    assert sum(more > 0 for more, _, _ in hidden) > 5
    assert {overflow for _, overflow, _ in hidden} == {"auto"}
    # A shadow at the edge says that there is more.
    assert all(image.count("linear-gradient") == 4 for _, _, image in hidden)


def test_on_a_phone_nothing_of_the_overview_is_cut_off(browser: Browser, pages: dict[str, Path]) -> None:
    """Memory, accuracy and verdict once lay beyond the edge: each arm is a card there, its values with their names."""
    browser.open(pages["full"], PHONE)
    cells = boxes(browser, "#overview tbody td")
    assert len(cells) == 9 * 6 and all(0 <= cell["left"] < cell["right"] <= PHONE for cell in cells)
    names = browser.evaluate(
        "[...document.querySelectorAll('#overview tbody tr:first-child td')]"
        ".map(e => getComputedStyle(e, '::before').content)"
    )
    assert names[-3:] == ['"Memory"', '"Accuracy"', '"Verdict"']
    shrinks = "getComputedStyle(document.querySelector('#overview tbody td'), '::before').flexShrink"
    assert browser.evaluate(shrinks) == "0", "beside a long value the name is cut into syllables"
    wraps = "getComputedStyle(document.querySelector('#overview tbody td small')).whiteSpace"
    assert browser.evaluate(wraps) == "normal", "a long value pushes the name out of its card"
    browser.open(pages["full"], DESKTOP)
    assert browser.evaluate("getComputedStyle(document.querySelector('#overview td')).display") == "table-cell"


def test_the_grid_of_figures_has_no_holes(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["full"], DESKTOP)
    # To the end of its words: the box of a figure would be stretched over a hole.
    words = boxes(browser, "figure figcaption")
    figures = [{**one, "bottom": end["bottom"]} for one, end in zip(boxes(browser, "figure"), words, strict=True)]
    for left in {figure["left"] for figure in figures}:
        column = sorted((figure for figure in figures if figure["left"] == left), key=lambda figure: figure["top"])
        assert all(0 <= below["top"] - above["bottom"] < 60 for above, below in itertools.pairwise(column))
    assert len({figure["left"] for figure in figures}) == 2


@PAGES
@WIDTHS
def test_every_figure_is_shown(browser: Browser, pages: dict[str, Path], name: str, width: int) -> None:
    browser.open(pages[name], width)
    sizes = browser.evaluate(
        "[...document.images].map(i => [i.complete, i.naturalWidth, i.naturalHeight, i.width / i.height])"
    )
    assert len(sizes) == {"full": 11, "smoke": 7, "one": 9, "hostile": 7}[name]
    for complete, wide, high, ratio in sizes:
        assert complete and wide > 100 and high > 100
        assert ratio == pytest.approx(wide / high, rel=0.02)
    for box in boxes(browser, "figure img"):
        assert box["width"] > (340 if width == PHONE else 400)


@PAGES
@WIDTHS
def test_nothing_is_asked_from_a_network_and_nothing_complains(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    browser.open(pages[name], width)
    browser.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert browser.messages == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    assert [url for url in browser.requests if url.startswith("file:")] == [pages[name].resolve().as_uri()]


@pytest.mark.parametrize("name", ["full", "smoke", "one"])
def test_verdict_and_table_are_on_the_first_screen(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], DESKTOP, 800)
    (verdict,) = boxes(browser, "#verdict")
    (head,) = boxes(browser, "#overview thead")
    assert 0 < verdict["top"] < verdict["bottom"] < head["top"] < head["bottom"] < 400
    assert boxes(browser, "#overview tbody tr")[0]["bottom"] < 800
    browser.open(pages[name], PHONE, 844)
    assert boxes(browser, "#verdict")[0]["bottom"] < boxes(browser, "#overview tbody tr")[0]["bottom"] < 844


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["full", "smoke"])
def test_text_stands_out_from_its_background(browser: Browser, pages: dict[str, Path], name: str, dark: bool) -> None:
    browser.open(pages[name], DESKTOP, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background != "rgb(255, 255, 255)") == dark
    contrasts: list[tuple[float, str]] = browser.evaluate(_CONTRAST)
    assert len(contrasts) > 200
    assert [(round(ratio, 2), text) for ratio, text in contrasts if ratio < 4.5] == []
    # The figures lie on the page's own ground, whatever its colour.
    assert set(browser.evaluate("[...document.images].map(i => getComputedStyle(i).backgroundColor)")) == {
        background
    }


@WIDTHS
def test_type_is_large_enough(browser: Browser, pages: dict[str, Path], width: int) -> None:
    browser.open(pages["full"], width)
    texts = "[...document.querySelectorAll('body *')].filter(e => e.textContent.trim())"
    assert min(browser.evaluate(f"{texts}.map(e => parseFloat(getComputedStyle(e).fontSize))")) >= 12
    # In a figure 8.5 points are the smallest type; its natural size is 96 pixels an inch.
    shown = browser.evaluate("Math.min(...[...document.images].map(i => i.width / i.getAttribute('width')))")
    assert 8.5 * 96 / 72 * shown >= 9.5


def test_sections_can_be_reached_and_sources_opened(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["full"], PHONE)
    links = browser.evaluate(
        "[...document.querySelectorAll('nav a')].every(a => document.querySelector(a.getAttribute('href')))"
    )
    assert links is True
    before = boxes(browser, "details")[0]["height"]
    browser.evaluate("document.querySelector('details summary').click()")
    assert boxes(browser, "details")[0]["height"] > before
    assert browser.evaluate("document.documentElement.scrollWidth") == PHONE


def test_hostile_text_makes_no_element(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"], PHONE)
    assert browser.evaluate("document.querySelectorAll('b, script').length") == 0
    assert browser.evaluate("document.body.innerText.includes('<b>averyverylong')") is True


def test_the_browser_would_see_a_page_that_is_too_wide(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    """The measurements above can fail: a broken copy of the page does."""
    broken = tmp_path / "broken.html"
    text = pages["full"].read_text(encoding="utf-8")
    for old, new in (
        ("overflow-x: auto", "overflow-x: visible"),
        ("img-src data:", "img-src 'none'"),
        ("--soft: #555a60", "--soft: #bbbbbb"),
    ):
        assert old in text
        text = text.replace(old, new)
    broken.write_text(text, encoding="utf-8")
    browser.open(broken, PHONE)
    assert browser.evaluate("document.documentElement.scrollWidth") > PHONE
    assert browser.evaluate("Math.max(...[...document.images].map(i => i.naturalWidth))") == 0
    assert browser.messages
    contrasts: list[Any] = browser.evaluate(_CONTRAST)
    assert min(ratio for ratio, _ in contrasts) < 4.5


def test_the_plain_command_line_renders_it_too(pages: dict[str, Path], tmp_path: Path) -> None:
    """Without the DevTools: what `chromium --dump-dom` prints has the verdict, and a screenshot is written."""
    assert _CHROMIUM is not None
    shot = tmp_path / "page.png"
    done = subprocess.run(
        [_CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1280,800", "--dump-dom",
         f"--screenshot={shot}", pages["smoke"].resolve().as_uri()],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no conclusion on speed, memory or accuracy" in done.stdout
    assert shot.read_bytes().startswith(b"\x89PNG")
