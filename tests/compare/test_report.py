"""The report of a session: complete, true to results.json, harmless, rebuilt the same, never lost."""

from __future__ import annotations

import errno
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from compare import format as fmt
from compare.errors import UserError
from compare.figures import PLATES
from compare.records import Asked, Unavailable, encode
from compare.report import build as build_module
from compare.report import events
from compare.report.build import build, report_files
from compare.report.page import Drawn
from compare.report.page import page as page_of
from compare.report.render import escape_markdown, fenced, to_html, to_markdown
from compare.results import Interval, Machine, Results
from compare.spec import MLP, RESNET50, Spec
from tests.compare.made import Fails, make_session
from tests.compare.sample import make_results, without_arms

SECTIONS = (
    "notices", "figures", "pairs", "equivalence", "again", "step0", "claims", "sizes", "time", "runs", "environment",
    "method", "threats", "sources", "rebuild",
)  # fmt: skip
HOSTILE = "<script>alert(1)</script> \"><img src=x onerror=alert(2)> | `tick` [a](javascript:b)\n# head & 'quote'"
_VOID = {"meta", "img", "br", "input", "link", "hr"}


class Page(HTMLParser):
    """Collects what is in a page, and fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.sections: dict[str, list[str]] = {}
        self._section: str | None = None
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self._section = dict(attrs)["id"]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "section":
            self._section = None

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            return
        self.words.append(data)
        self.sections.setdefault(self._section or "first", []).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def section(self, name: str) -> str:
        return " ".join(" ".join(self.sections[name]).split())

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.tags if name == tag)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """A full session with a run that went NaN, and its report."""
    folder = tmp_path_factory.mktemp("session")
    make_session(
        folder,
        profile="full",
        seeds=4,
        failures=[Fails("train", "native-fp16", 1, "nan", "The loss was NaN at epoch 2.")],
    )
    return folder, build(folder)


@pytest.fixture(scope="module")
def page(built: tuple[Path, Results]) -> Page:
    return Page((built[0] / "report.html").read_text(encoding="utf-8"))


@pytest.fixture
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a single figure: the rest would cost seconds and add nothing to a test of writing."""
    monkeypatch.setattr(build_module, "PLATES", PLATES[:1])


def html(results: Results) -> Page:
    """The page without its figures."""
    return Page(to_html(page_of(results, {})))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


# ------------------------------------------------------------------ what it says


def test_the_first_screen_has_verdict_and_every_arm(built: tuple[Path, Results], page: Page) -> None:
    folder, results = built
    first = page.section("first")
    assert results.headline in first
    assert first.index(results.headline) < first.index("Images/s")
    for arm in results.arms:
        assert arm.name in first and arm.title in first
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    assert escape_markdown(results.headline) in markdown
    assert markdown.index("| Arm |") < markdown.index("\n## ")


def test_the_first_screen_says_what_it_ran_on_and_for_how_long(built: tuple[Path, Results], page: Page) -> None:
    _, results = built
    first = page.section("first")
    for key, name in (("torch", "torch"), ("cuda", "CUDA"), ("cudnn", "cuDNN")):
        assert f"{name} {results.environment[key]}" in first
    assert "Apex 0.1" in first and "of processes" in first and "GPU-hours" in first
    clocked = replace(results, machine=Machine((1400, 1965, 1980), None, None, None, 150, 4, 2))
    assert "SM clock 1,965 MHz (1,400 to 1,980)" in html(clocked).section("first")
    assert "90 % accuracy 1.0" in first and "as soon (95 %" in first, "the ratio of times to the target"


def test_the_hosts_time_is_called_what_it_is(page: Page) -> None:
    assert "Host, with its waits" in page.section("time")
    assert "a loss scale asks it whether a gradient overflowed" in page.section("time")


def test_steps_from_trained_weights_stand_below_those_from_the_initial_ones(page: Page) -> None:
    text = page.section("step0")
    assert text.index("From the initial weights") < text.index("From the weights that fp32 was trained to (3 seeds)")
    assert "Over noise" in text and "itself, run again" in text


def test_a_smoke_run_in_which_every_step_overflowed_is_not_said_to_work() -> None:
    arms = ("fp32", "native-fp16")
    results = make_results(arms, trained=arms, seeds=1, epochs=1, smoke=True, sweep=False)
    idle = tuple(
        replace(arm, training=tuple(replace(run, skipped_steps=run.steps) for run in arm.training))
        if arm.name == "native-fp16"
        else arm
        for arm in results.arms
    )
    assert "shows that everything works" in html(replace(results, failures=())).section("first")
    first = html(replace(results, arms=idle, failures=())).section("first")
    assert "shows that everything works" not in first and "native-fp16 took no step" in first


def test_the_manifest_has_the_digest_of_every_record(built: tuple[Path, Results]) -> None:
    folder, _ = built
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    digests = {name: digest for digest, name in (line.split("  ") for line in lines)}
    recorded = {path.relative_to(folder).as_posix() for path in folder.rglob("*.jsonl")}
    assert digests.keys() == recorded | {"results.json"} and len(recorded) > 40
    for name, digest in digests.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_every_section_is_there_and_linked(page: Page) -> None:
    assert tuple(name for name in page.sections if name != "first") == SECTIONS
    assert [link["href"] for link in page.all("a")] == [f"#{name}" for name in SECTIONS]
    assert all(len(page.section(name)) > 40 for name in SECTIONS)


def test_numbers_are_those_of_results_json(built: tuple[Path, Results], page: Page) -> None:
    folder, _ = built
    data: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    first = page.section("first")
    for arm in data["arms"]:
        speed = arm["images_per_s"]
        assert fmt.significant(speed["value"]) in first
        assert fmt.between(speed["low"], speed["high"], fmt.like(speed["value"])) in first
        assert fmt.memory(arm["memory"]["allocated"]) in first
        if arm["accuracy"]:
            assert fmt.percent(arm["accuracy"]["mean"]) in first
            assert all(fmt.percent(run) in page.section("runs") for run in arm["accuracy"]["runs"])
    assert data["pairs"]
    for pair in data["pairs"]:
        ratio = pair["speed_ratio"]
        value = ratio["value"] if isinstance(ratio, dict) else ratio
        assert fmt.ratio(value, 3) in page.section("pairs")
        if pair["equivalence"]:
            assert pair["equivalence"]["verdict"] in page.section("equivalence")
            assert fmt.points(pair["accuracy_difference"]) in page.section("equivalence")


def test_markdown_says_the_same_numbers(built: tuple[Path, Results]) -> None:
    folder, results = built
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    for arm in results.arms:
        assert arm.images_per_s is not None and arm.memory is not None
        row = next(line for line in markdown.splitlines() if line.startswith(f"| {arm.name} ({arm.title})"))
        assert fmt.significant(arm.images_per_s.value) in row and fmt.memory(arm.memory.allocated) in row
    for line in markdown.split("figures/")[1:]:
        assert (folder / "figures" / line.partition(")")[0]).is_file()


def test_tables_of_markdown_are_whole(built: tuple[Path, Results]) -> None:
    lines = (built[0] / "report.md").read_text(encoding="utf-8").splitlines()
    tables = [line.replace("\\|", "").count("|") for line in lines if line.startswith("|")]
    assert len(tables) > 60
    for previous, line in pairwise(lines):
        if previous.startswith("|") and line.startswith("|"):
            assert previous.replace("\\|", "").count("|") == line.replace("\\|", "").count("|"), line
        if line.startswith("|") and not previous.startswith("|"):
            assert previous == ""


def test_a_nan_run_is_shown(page: Page) -> None:
    assert "The loss was NaN at epoch 2." in page.section("runs")
    assert "The loss was NaN at epoch 2." in page.section("notices")


def test_the_source_of_each_arm_can_be_opened(built: tuple[Path, Results], page: Page) -> None:
    sources = page.section("sources")
    for arm in built[1].arms:
        assert arm.arm_source and " ".join(arm.arm_source.split()) in sources
    assert sum(1 for _ in page.all("details")) == len(built[1].arms)


def test_every_figure_has_words_and_data(built: tuple[Path, Results], page: Page) -> None:
    images = list(page.all("img"))
    assert len(images) == 10
    for image in images:
        assert len(image["alt"] or "") > 60 and (image["src"] or "").startswith("data:image/svg+xml;base64,")
        assert int(image["width"] or 0) > 100 and int(image["height"] or 0) > 100
    files = {path.name for path in (built[0] / "figures").iterdir()}
    assert (
        len([name for name in files if name.endswith(".png")])
        == len([name for name in files if name.endswith(".svg")])
        == 10
    )


def test_ids_are_unique(page: Page) -> None:
    counts = Counter(attributes["id"] for _, attributes in page.tags if "id" in attributes)
    assert max(counts.values()) == 1


def test_nothing_is_loaded_from_anywhere(built: tuple[Path, Results], page: Page) -> None:
    assert not list(page.all("script")) and not list(page.all("link")) and not list(page.all("iframe"))
    for _, attributes in page.tags:
        for key in ("src", "href", "srcset", "poster", "action"):
            value = attributes.get(key)
            assert value is None or value.startswith(("data:", "#"))
        assert not any(key.startswith("on") for key in attributes)
    text = (built[0] / "report.html").read_text(encoding="utf-8")
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style
    assert "default-src 'none'" in text


def test_no_path_of_this_machine_is_shown(tmp_path: Path) -> None:
    results = make_results()
    shown = html(replace(results, spec=replace(results.spec, data=str(tmp_path / "images")))).text
    assert "images" in shown and str(tmp_path) not in shown


# ------------------------------------------------------------------ what may go wrong in a session


def test_hostile_text_stays_text() -> None:
    results = make_results(unavailable=("apex-o2",), reason=HOSTILE, nan=True)
    arms = tuple(replace(arm, arm_source=f"{HOSTILE}\n```\n````\n", title=HOSTILE) for arm in results.arms)
    failures = tuple(replace(one, reason=HOSTILE, task=HOSTILE) for one in results.failures)
    spoilt = replace(
        results, arms=arms, failures=failures, notices=(HOSTILE,), headline=HOSTILE, command=HOSTILE,
        environment={"gpu": HOSTILE, HOSTILE: {HOSTILE: [HOSTILE]}}, flags={HOSTILE: HOSTILE},
    )  # fmt: skip
    drawn = {"loss": Drawn("loss", HOSTILE, HOSTILE, HOSTILE, b"png", b"<svg/>", "", 480, 300)}
    drawn["sweep"] = Drawn("sweep", HOSTILE, "", "", None, None, HOSTILE)
    content = page_of(spoilt, drawn)
    page = Page(to_html(content))
    assert not list(page.all("script")) and len(list(page.all("img"))) == 1
    assert page.text.count("<script>alert(1)</script>") > 30
    outside, fence = [], ""
    for line in to_markdown(content).splitlines():
        if not fence and line.startswith("```"):
            fence = line
        elif fence and line == fence:
            fence = ""
        elif not fence:
            outside.append(line.replace("<details><summary>", "").replace("</summary>", "").replace("</details>", ""))
    assert fence == ""
    assert not any("<" in line or ("\\" not in line and "`tick`" in line) for line in outside)
    assert not any(line.startswith("# head") for line in outside)


def test_escaping_for_markdown() -> None:
    assert escape_markdown("a|b\nc") == "a\\|b c"
    assert escape_markdown("<b> & *x*") == "&lt;b&gt; &amp; \\*x\\*"
    assert escape_markdown("# no head") == "\\# no head" and escape_markdown("1. no list") == "1\\. no list"
    assert escape_markdown("- no item") == "\\- no item" and escape_markdown("-3 % and 1.5") == "-3 % and 1.5"
    assert str(fenced("a\n````\nb")).startswith("`````\n")


def test_arms_that_did_not_run_are_listed_with_the_reason(tmp_path: Path, one_figure: None) -> None:
    make_session(tmp_path, profile="smoke", smoke=True, apex=False, seeds=1, epochs=1, blocks=1)
    results = build(tmp_path)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    arm = results.arm("apex-o1")
    assert arm is not None and arm.status == "unavailable" and arm.reason
    assert "unavailable" in page.section("first")
    assert arm.reason in page.section("notices")


def test_a_smoke_report_says_so_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "render", lambda figure, kind: b"its file")  # the figures have tests of their own
    arms = ("fp32", "native-bf16", "native-fp16")
    results = make_results(arms, trained=arms, seeds=1, epochs=1, smoke=True, sweep=False)
    files = report_files(results)
    page = Page(files["report.html"].decode())
    assert page.text.startswith("Apex amp and native AMP compared (SMOKE)")  # the title
    assert "No conclusion on speed, memory or accuracy can be drawn" in page.section("first")
    assert "smoke run" in page.section("first") and "equivalent" not in page.section("first")
    assert "smoke run" in page.section("threats")
    assert "> **SMOKE**" in files["report.md"].decode()
    assert "No figure “Memory”" in page.section("figures") and "No figure “Batch sweep”" in page.section("figures")


def test_a_real_run_has_no_smoke_in_it(built: tuple[Path, Results], page: Page) -> None:
    assert "SMOKE" not in page.text and "SMOKE" not in (built[0] / "report.md").read_text(encoding="utf-8")


def test_a_session_in_which_nothing_ran(tmp_path: Path) -> None:
    spec = Spec("standard", "cuda", ("fp32", "apex-o1"), ("fp32", "apex-o1"), ())
    records = (Asked(spec.to_json(), "2026-01-02T03:04:05+00:00", "amp-compare run"), Unavailable("apex-o1", "no nvcc"))
    (tmp_path / "session.jsonl").write_text("".join(encode(record) + "\n" for record in records), encoding="utf-8")
    results = build(tmp_path)
    assert not results.complete
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "not complete" in page.section("notices") and "no nvcc" in page.section("notices")
    assert not list(page.all("img")) and page.section("figures").count("No figure") == 11


def test_results_without_any_arm() -> None:
    page = html(without_arms(make_results()))
    assert "No arm has a result yet." in page.section("first")
    assert set(SECTIONS) < set(page.sections)


def test_three_of_the_threats_depend_on_the_session() -> None:
    real = html(make_results()).section("threats")
    assert "Launch bound at batch 128: apex-o1" in real and "too few" not in real and "No A/A pair" not in real
    few = html(replace(make_results(seeds=1), controls=())).section("threats")
    assert "too few for any verdict" in few and "No A/A pair" in few


@pytest.mark.parametrize(
    ("workload", "data", "words"),
    [
        (RESNET50, "synthetic:64,16", "data: synthetic data;"),
        (RESNET50, "/home/someone/cifar", "data: the images in the folder “cifar”;"),
        (MLP, "synthetic", "data: what the workload makes itself;"),
        ("mine:build", "synthetic", "data: what the workload makes itself;"),
    ],
)
def test_the_data_are_called_what_they_are(workload: str, data: str, words: str) -> None:
    results = make_results()
    page = html(replace(results, spec=replace(results.spec, workload=workload, data=data)))
    assert words in page.section("method")
    assert ("compressed again" in page.section("threats")) == data.startswith("/")


def test_a_pair_that_is_not_judged_says_why() -> None:
    results = make_results()
    bare = tuple(replace(pair, speed_differs=None) for pair in results.pairs)
    assert "the A/A control failed" in html(replace(results, pairs=bare)).section("pairs")
    single = tuple(replace(pair, speed=Interval(1.1, None, None, 1, "one run")) for pair in bare)
    assert "no interval to judge by" in html(replace(results, pairs=single)).section("pairs")
    assert "not judged: smoke run" in html(replace(results, pairs=bare, smoke=True)).section("pairs")


def test_the_first_screen_says_of_how_many_seeds_a_verdict_is(tmp_path: Path) -> None:
    make_session(tmp_path, failures=[Fails("train", "apex-o1", 2, "nan", "diverged")])
    build(tmp_path, tensorboard=False)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "against apex-o1, 4 of 5 seeds" in page.section("first")


def test_what_the_seeds_can_show_is_said() -> None:
    shown = html(make_results()).section("equivalence")
    assert "5 seeds with the spread seen here (its upper 80 % bound) would show it with a probability of 93 %" in shown
    assert "no verdict from 1 seed" in html(make_results(seeds=1)).section("equivalence")


def test_a_speed_without_interval_is_shown_without_one() -> None:
    results = make_results()
    bare = tuple(
        replace(arm, images_per_s=Interval(arm.images_per_s.value, None, None, 1, "one run"))
        for arm in results.arms
        if arm.images_per_s
    )
    first = html(replace(results, arms=bare)).section("first")
    assert "3,610" in first and "95 % intervals" not in first and "None" not in first


# ------------------------------------------------------------------ writing


def test_a_rebuild_gives_the_same_bytes(built: tuple[Path, Results]) -> None:
    folder, _ = built
    before = contents(folder)
    build(folder)
    assert contents(folder) == before


def test_a_rebuild_drops_figures_and_events_that_are_gone(tmp_path: Path) -> None:
    make_session(tmp_path, profile="quick", seeds=1, epochs=2, blocks=2)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "sweep.png").write_bytes(b"of an older session")
    (tmp_path / "figures" / "mine.png").write_bytes(b"not ours")
    old = tmp_path / "tensorboard" / "apex-o2" / "seed7" / events.FILE
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    build(tmp_path)
    assert not (tmp_path / "figures" / "sweep.png").exists() and not old.exists()
    assert (tmp_path / "figures" / "mine.png").exists()


def test_a_failed_build_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_figure: None
) -> None:
    make_session(tmp_path, profile="quick", seeds=1, epochs=2, blocks=2)
    build(tmp_path)
    before = contents(tmp_path)
    real = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "report.html":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UserError, match="the disk is full; free some space"):
        build(tmp_path)
    assert contents(tmp_path) == before

    monkeypatch.setattr(Path, "write_bytes", real)
    monkeypatch.setattr(build_module, "to_html", lambda page: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build(tmp_path)
    assert contents(tmp_path) == before


def test_what_a_killed_build_left_is_cleared(tmp_path: Path, one_figure: None) -> None:
    make_session(tmp_path, profile="quick", seeds=1, epochs=2, blocks=2)
    (tmp_path / ".report.new").mkdir()
    (tmp_path / ".report.new" / "report.html").write_text("half of it")
    build(tmp_path)
    assert not (tmp_path / ".report.new").exists()
    assert "half of it" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "session", [None, "", "no JSON\n", '{"type": "asked", "spec": {}, "started": "", "command": ""}\n']
)
def test_a_folder_without_a_session(tmp_path: Path, session: str | None) -> None:
    if session is not None:
        (tmp_path / "session.jsonl").write_text(session)
    with pytest.raises(UserError, match="holds no session"):
        build(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_no_folder_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "gone", tmp_path / "file"):
        with pytest.raises(UserError):
            build(folder)


# ------------------------------------------------------------------ TensorBoard


def scalars(path: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    found: dict[str, list[tuple[int, float]]] = {}
    for event in LegacyEventFileLoader(str(path)).Load():
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_tensorboard_reads_back_what_was_measured(built: tuple[Path, Results]) -> None:
    pytest.importorskip("tensorboard", reason="the package tensorboard is not installed")
    folder, results = built
    arm = results.arm("native-fp16")
    assert arm is not None
    for run in arm.training:
        files = list((folder / "tensorboard" / "native-fp16" / f"seed{run.seed}").iterdir())
        assert len(files) == 1
        read = scalars(files[0])
        losses = [loss for epoch in run.epochs for loss in epoch.losses]
        assert [value for _, value in read["train/loss"]] == pytest.approx(losses, nan_ok=True)
        accuracies = [epoch.test_accuracy for epoch in run.epochs if epoch.test_accuracy is not None]
        assert [value for _, value in read["test/accuracy"]] == pytest.approx(accuracies)
        assert read["train/loss scale"] == [(point.step, point.loss_scale) for point in run.scales]
        assert len(read["train/learning rate"]) == len(run.epochs)
        assert len(read["train/gradient norm"]) == len(run.epochs)
    whole = next(run for run in arm.training if run.status == "ok")
    last = scalars(folder / "tensorboard" / "native-fp16" / f"seed{whole.seed}" / events.FILE)
    assert last["test/accuracy"][-1][0] == last["train/loss"][-1][0] == whole.steps


_WITHOUT = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
from pathlib import Path
from compare.report import build
build.PLATES = build.PLATES[:1]
build.build(Path(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "hidden", [("torch", "torchvision"), ("torch", "tensorboard")], ids=lambda names: "+".join(names)
)
def test_the_report_needs_neither_torch_nor_tensorboard(tmp_path: Path, hidden: tuple[str, ...]) -> None:
    make_session(tmp_path, profile="quick", seeds=1, epochs=2, blocks=2)
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT.format(hidden=hidden), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()
    if "tensorboard" in hidden:
        (line,) = done.stderr.splitlines()
        assert "TensorBoard" in line and not (tmp_path / "tensorboard").exists()
    else:
        assert (tmp_path / "tensorboard" / "fp32" / "seed0").is_dir()


def test_events_can_be_left_out(tmp_path: Path, one_figure: None) -> None:
    make_session(tmp_path, profile="quick", seeds=1, epochs=2, blocks=2)
    build(tmp_path, tensorboard=False)
    assert not (tmp_path / "tensorboard").exists() and (tmp_path / "report.html").exists()
