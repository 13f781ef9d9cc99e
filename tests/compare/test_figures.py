"""The figures: what is drawn equals the results, nothing is cut off, equal results give equal bytes."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from compare.figures import PLATES, render
from compare.figures.canvas import SMOKE_LINE, two_lines
from compare.figures.colours import look
from compare.results import Results, TrainingRun
from tests.compare.sample import NINE, make_results, without_arms

THREE = ("fp32", "apex-o1", "native-fp16")
SMOKE_ARMS = ("fp32", "native-bf16", "native-fp16")
BY_NAME = {plate.name: plate for plate in PLATES}


@pytest.fixture(scope="module")
def nine() -> Results:
    return make_results(nan=True)


@pytest.fixture(scope="module")
def smoke() -> Results:
    return make_results(SMOKE_ARMS, trained=SMOKE_ARMS, seeds=1, epochs=1, smoke=True, sweep=False, spread=30.0)


def draw(name: str, results: Results) -> Figure:
    figure = BY_NAME[name].draw(results)
    assert figure is not None
    return figure


def artists(figure: Figure, prefix: str) -> dict[str, Any]:
    """The artists whose identifier begins so, by the rest of it."""
    found = [(one.get_gid(), one) for one in figure.findobj() if (one.get_gid() or "").startswith(prefix + ":")]
    return {str(gid)[len(prefix) + 1 :]: one for gid, one in found}


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]  # type: ignore[arg-type]


def labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


# ------------------------------------------------------------------ every figure


VARIANTS = {
    "nine arms, one NaN run": make_results(nan=True),
    "three seeds": make_results(THREE, seeds=3, epochs=4),
    "one arm, one seed": make_results(("native-fp16",), trained=("native-fp16",), seeds=1),
    "smoke, very different speeds": make_results(
        SMOKE_ARMS, trained=SMOKE_ARMS, seeds=1, epochs=1, smoke=True, sweep=False, spread=30.0
    ),
    "an arm with a name of its own": make_results(("fp32", "a-rather-long-name-of-some-new-arm-nobody-knows")),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_no_text_is_cut_off(plate: Any, variant: str) -> None:
    figure = plate.draw(VARIANTS[variant])
    if figure is None:
        assert plate.nothing(VARIANTS[variant]).endswith(".")
        return
    canvas = FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a layout that gave up
        canvas.draw()  # type: ignore[no-untyped-call]
    frame = figure.bbox
    hidden = _beyond_the_axes(figure)
    for text in figure.findobj(Text):
        if not text.get_text().strip() or text in hidden or text.get_gid() == "smoke-mark":
            continue
        box = text.get_window_extent()
        assert box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1, text.get_text()
        assert box.y0 >= frame.y0 - 1 and box.y1 <= frame.y1 + 1, text.get_text()


def _beyond_the_axes(figure: Figure) -> set[Text]:
    """Labels of ticks outside the limits of their axis: they exist, but nothing draws them."""
    found: set[Text] = set()
    for axes in figure.axes:
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not min(limits) <= tick.get_loc() <= max(limits):
                    found |= {tick.label1, tick.label2}
    return found


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_axes_have_labels_and_type_is_large_enough(plate: Any, nine: Results) -> None:
    figure = plate.draw(nine)
    assert figure is not None
    assert figure.axes[-1].get_xlabel()
    assert all(text.get_fontsize() >= 8.4 for text in figure.findobj(Text) if text.get_text().strip())
    assert figure.get_size_inches()[0] == 4.2


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_equal_results_give_equal_bytes(plate: Any, nine: Results) -> None:
    first, second = (plate.draw(results) for results in (nine, make_results(nan=True)))
    assert render(first, "png") == render(second, "png")
    assert (svg := render(first, "svg")) == render(second, "svg")
    assert b"dc:date" not in svg and b"dc:creator" not in svg


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_smoke_is_marked(plate: Any, smoke: Results, nine: Results) -> None:
    figure = plate.draw(smoke)
    if figure is not None:
        gids = {text.get_gid(): text.get_text() for text in figure.findobj(Text)}
        assert gids["smoke-mark"] == "SMOKE"
        assert gids["smoke-line"] == SMOKE_LINE and "nothing follows" in SMOKE_LINE
    real = plate.draw(nine)
    assert all(text.get_gid() != "smoke-mark" for text in real.findobj(Text))


def test_words_below_a_figure_name_nothing_that_is_not_in_it(nine: Results) -> None:
    one = make_results(seeds=1)
    aimless = replace(one, spec=replace(one.spec, target_accuracy=None))
    assert "dotted line" in BY_NAME["time-to-accuracy"].reading(nine)
    assert "dotted line" not in BY_NAME["time-to-accuracy"].reading(aimless)
    assert "bands" in BY_NAME["loss"].reading(nine) and "bands" not in BY_NAME["loss"].reading(one)
    calm = tuple(
        replace(arm, training=tuple(replace(run, skipped_steps=0) for run in arm.training)) for arm in nine.arms
    )
    assert "crosses" in BY_NAME["loss-scale"].reading(nine)
    assert "crosses" not in BY_NAME["loss-scale"].reading(replace(nine, arms=calm))
    blind = tuple(
        replace(arm, images_per_s=replace(arm.images_per_s, low=None, high=None) if arm.images_per_s else None)
        for arm in nine.arms
    )
    assert "whisker" in BY_NAME["throughput"].reading(nine)
    assert "whisker" not in BY_NAME["throughput"].reading(replace(nine, arms=blind))
    short = make_results(seeds=1, epochs=1)
    assert "Below" in BY_NAME["accuracy"].reading(nine) and "Below" not in BY_NAME["accuracy"].reading(short)
    assert "curve" in BY_NAME["time-to-accuracy"].reading(nine)
    assert "curve" not in BY_NAME["time-to-accuracy"].reading(short)


def test_the_sweep_says_how_many_blocks_a_point_is_of(nine: Results) -> None:
    """The session's own batch has more than the others."""
    more = [
        replace(point, images_per_s=replace(point.images_per_s, n=5) if point.images_per_s else None)
        if point.batch == 128
        else point
        for point in nine.sweep
    ]
    figure = draw("sweep", replace(nine, sweep=tuple(more)))
    assert any("Mean over 3 to 5 blocks" in text.get_text().replace("\n", " ") for text in figure.texts)


def test_the_machine_draws_what_was_throttled_or_shared(nine: Results) -> None:
    figure = draw("machine", nine)
    marks = {line.get_gid(): line for axes in figure.axes for line in axes.lines}
    for name in ("throttled", "shared"):
        drawn = sum(len(line.get_xdata()) for gid, line in marks.items() if str(gid).startswith(f"{name}:"))
        assert drawn == sum(getattr(one, name) for one in nine.moments) > 0
    assert "throttled in" in BY_NAME["machine"].alt(nine)
    calm = replace(nine, moments=tuple(replace(one, throttled=False, shared=False) for one in nine.moments))
    assert len(draw("machine", calm).axes) == len(figure.axes) - 1
    (legend,) = figure.legends
    assert {line.get_linestyle() for line in legend.get_lines()} == {"None"}, "no line is drawn"
    ran = [arm.name for arm in nine.arms if arm.name in {one.arm for one in nine.moments}]
    assert [text.get_text() for text in legend.get_texts()] == ran


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_nothing_to_show_is_no_figure(plate: Any, nine: Results) -> None:
    empty = without_arms(nine)
    assert plate.draw(empty) is None
    assert plate.nothing(empty).endswith(".")


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_alternative_text_has_numbers_of_every_arm_shown(plate: Any, nine: Results) -> None:
    text = plate.alt(nine)
    assert "native-fp16" in text and any(letter.isdigit() for letter in text)


def test_colours_markers_and_dashes_tell_the_arms_apart() -> None:
    seen = [look(arm) for arm in NINE]
    for key in ("colour", "marker"):
        assert len({getattr(one, key) for one in seen}) == len(NINE)
    assert look("some-other-arm") == look("some-other-arm")


def test_drawing_leaves_no_global_state() -> None:
    """pyplot is never imported, a reader's own settings change nothing, and they are still there afterwards."""
    code = (
        "import sys, matplotlib\n"
        # Reading the backend would choose one, and import pyplot for it.
        "settings = lambda: {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != 'backend'}\n"
        "matplotlib.rcParams['font.size'] = 33\n"
        "before = settings()\n"
        "from compare.figures import PLATES, render\n"
        "from tests.compare.sample import make_results\n"
        "data = render(PLATES[0].draw(make_results()), 'svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules and 'torch' not in sys.modules\n"
        "assert settings() == before\n"
        "sys.stdout.buffer.write(data)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == render(draw("throughput", make_results()), "svg")


# ------------------------------------------------------------------ what is drawn


def test_throughput_draws_the_speeds(nine: Results) -> None:
    figure = draw("throughput", nine)
    bars: dict[str, Rectangle] = artists(figure, "bar")
    intervals = artists(figure, "interval")
    assert list(bars) == list(NINE)
    for arm in nine.arms:
        assert arm.images_per_s is not None
        assert bars[arm.name].get_width() == arm.images_per_s.value
        assert bars[arm.name].get_x() == 0
        assert [x for x, _ in points(intervals[arm.name])] == [arm.images_per_s.low, arm.images_per_s.high]
    assert "images/s" in figure.axes[0].get_xlabel() and "batch 128" in figure.axes[0].get_xlabel()
    assert labels(figure.axes[0]) == [two_lines(arm) for arm in NINE]


def test_throughput_without_intervals_and_of_another_workload(nine: Results) -> None:
    arms = tuple(
        replace(arm, images_per_s=replace(arm.images_per_s, low=None, high=None))
        for arm in nine.arms
        if arm.images_per_s
    )
    figure = draw("throughput", replace(nine, arms=arms, spec=replace(nine.spec, workload="mlp")))
    assert not artists(figure, "interval")
    assert "samples/s" in figure.axes[0].get_xlabel()


def test_step_time_draws_the_quartiles_against_the_median(nine: Results) -> None:
    figure = draw("step-time", nine)
    boxes, tails = artists(figure, "box"), artists(figure, "p95")
    for arm in nine.arms:
        steps = arm.steps
        assert steps is not None
        box = boxes[arm.name]
        assert box.get_x() == pytest.approx(100 * (steps.q1_ms / steps.median_ms - 1))
        assert box.get_x() + box.get_width() == pytest.approx(100 * (steps.q3_ms / steps.median_ms - 1))
        assert points(tails[arm.name])[-1][0] == pytest.approx(100 * (steps.p95_ms / steps.median_ms - 1))
    assert "%" in figure.axes[0].get_xlabel()
    assert labels(figure.axes[0])[0] == "fp32\n87.2 ms"


def test_few_steps_are_dots(smoke: Results) -> None:
    arm = smoke.arms[0]
    assert arm.steps is not None
    few = replace(arm, steps=replace(arm.steps, samples_ms=(540.0, 545.0, 560.0)))
    shape = artists(draw("step-time", replace(smoke, arms=(few,))), "shape")["fp32"]
    assert [x for x, _ in points(shape)] == pytest.approx(
        [100 * (t / arm.steps.median_ms - 1) for t in (540, 545, 560)]
    )


def test_memory_draws_allocated_and_reserved_in_one_unit(nine: Results) -> None:
    figure = draw("memory", nine)
    allocated, reserved = artists(figure, "allocated"), artists(figure, "reserved")
    for arm in nine.arms:
        assert arm.memory is not None
        assert allocated[arm.name].get_width() == arm.memory.allocated / 2**30
        assert reserved[arm.name].get_width() == arm.memory.reserved / 2**30
    assert "GiB" in figure.axes[0].get_xlabel()


def test_memory_of_a_cpu_run_says_why_there_is_none(smoke: Results) -> None:
    assert BY_NAME["memory"].draw(smoke) is None
    assert "GPU" in BY_NAME["memory"].nothing(smoke)


def test_loss_draws_the_mean_over_seeds_and_leaves_the_nan_run_out(nine: Results) -> None:
    figure = draw("loss", nine)
    means = artists(figure, "mean")
    arm = nine.arm("native-fp16")
    assert arm is not None
    whole = [run for run in arm.training if run.status == "ok"]
    drawn = points(means["native-fp16"])
    assert len(drawn) == 300
    for index in (0, 137, 299):
        epoch, part = divmod(index, 10)
        assert drawn[index][0] == pytest.approx(epoch + (part + 1) / 10)
        assert drawn[index][1] == pytest.approx(sum(run.epochs[epoch].losses[part] for run in whole) / 4)
    stopped = artists(figure, "stopped")
    assert list(stopped) == ["native-fp16:2"]
    assert len(points(stopped["native-fp16:2"])) == 124  # the 125th is NaN
    assert any(text.get_text() == "NaN, seed 2" for text in figure.findobj(Text))
    assert set(artists(figure, "band")) == set(THREE)
    assert figure.axes[0].get_yscale() == "log" and "log" in figure.axes[0].get_ylabel()


def test_one_seed_has_no_band() -> None:
    figure = draw("loss", make_results(THREE, seeds=1))
    assert not artists(figure, "band")
    assert any("no band" in text.get_text() for text in figure.findobj(Text))


def test_accuracy_draws_every_final_accuracy(nine: Results) -> None:
    figure = draw("accuracy", nine)
    final = artists(figure, "final")
    for name in THREE:
        arm = nine.arm(name)
        assert arm is not None and arm.accuracy is not None
        assert tuple(x for x, _ in points(final[name])) == arm.accuracy.runs
    assert len(final["native-fp16"].get_xdata()) == 4
    assert figure.axes[0].get_ylabel() == "Test accuracy (%)"


def test_accuracy_of_one_epoch_has_no_curve_and_no_narrow_axis(smoke: Results) -> None:
    figure = draw("accuracy", smoke)
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    assert high - low >= 2 * smoke.spec.margin - 1e-9
    assert not artists(figure, "mean")


def test_time_to_accuracy_marks_every_run_that_got_there(nine: Results) -> None:
    figure = draw("time-to-accuracy", nine)
    reached = [
        (one.get_gid(), points(one)[0])
        for one in figure.findobj(Line2D)
        if (one.get_gid() or "").startswith("reached:")
    ]
    for arm in nine.arms:
        times = [run.time_to_target_s for run in arm.training if run.time_to_target_s is not None]
        drawn = [x for gid, (x, _) in reached if gid == f"reached:{arm.name}"]
        assert drawn == pytest.approx([time / 60 for time in times])
    assert all(y == 90.0 for _, (_, y) in reached)
    assert "(min)" in figure.axes[0].get_xlabel()


def test_time_to_accuracy_in_seconds_and_without_a_target(smoke: Results) -> None:
    figure = draw("time-to-accuracy", replace(smoke, spec=replace(smoke.spec, target_accuracy=None)))
    assert "(s)" in figure.axes[0].get_xlabel()
    assert all(one.get_gid() != "target" for one in figure.findobj(Line2D))


def test_loss_scale_marks_the_skipped_steps(nine: Results) -> None:
    figure = draw("loss-scale", nine)
    assert len(figure.axes) == 2  # fp32 has none
    scales, skipped = artists(figure, "scale"), artists(figure, "skipped")
    for name in ("apex-o1", "native-fp16"):
        arm = nine.arm(name)
        assert arm is not None
        for run in arm.training:
            assert points(scales[f"{name}:{run.seed}"]) == [(point.step, point.loss_scale) for point in run.scales]
            crosses = [(point.step, point.loss_scale) for point in run.scales if point.skipped]
            assert points(skipped[f"{name}:{run.seed}"]) == crosses
            assert len(crosses) == run.skipped_steps > 0


def test_a_run_without_a_skipped_step_leaves_the_layout_whole(nine: Results) -> None:
    """An empty line that is not clipped once made the layout give up, with the title across the panel."""

    def calm(run: TrainingRun) -> TrainingRun:
        return replace(run, scales=tuple(replace(point, skipped=False) for point in run.scales), skipped_steps=0)

    arms = tuple(replace(arm, training=tuple(calm(run) for run in arm.training)) for arm in nine.arms)
    figure = draw("loss-scale", replace(nine, arms=arms))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render(figure, "png")
    assert artists(figure, "skipped") == {}


def test_equivalence_draws_interval_and_margin(nine: Results) -> None:
    figure = draw("equivalence", nine)
    axes = figure.axes[0]
    marks, intervals = artists(figure, "difference"), artists(figure, "interval")
    tests = [pair.equivalence for pair in nine.pairs if pair.equivalence]
    assert len(marks) == len(tests) > 1
    for test in tests:
        key = f"{test.arm}:{test.baseline}"
        assert points(marks[key])[0][0] == test.difference
        assert [x for x, _ in points(intervals[key])] == [test.low, test.high]
    (margin,) = [one for one in figure.findobj(Rectangle) if one.get_gid() == "margin"]
    assert (margin.get_x(), margin.get_width()) == (-0.5, 1.0)
    assert "percentage points" in axes.get_xlabel()


def test_one_seed_has_a_difference_but_no_interval() -> None:
    figure = draw("equivalence", make_results(THREE, seeds=1))
    assert artists(figure, "difference") and not artists(figure, "interval")
    assert any("no verdict" in text.get_text() for text in figure.findobj(Text))


def test_sweep_draws_speed_and_memory_and_marks_what_did_not_run(nine: Results) -> None:
    figure = draw("sweep", nine)
    speed, memory, missing = (artists(figure, what) for what in ("speed", "memory", "missing"))
    for arm in NINE:
        ran = [point for point in nine.sweep if point.arm == arm and point.images_per_s]
        assert points(speed[arm]) == [(p.batch, p.images_per_s.value) for p in ran if p.images_per_s]
        assert points(memory[arm]) == [(p.batch, p.memory_allocated / 2**30) for p in ran if p.memory_allocated]
    assert list(missing) == ["fp32:1024"]
    assert "images/s" in figure.axes[0].get_ylabel() and "GiB" in figure.axes[1].get_ylabel()


def test_a_sweep_of_one_size_is_no_figure(nine: Results) -> None:
    one = replace(nine, sweep=tuple(point for point in nine.sweep if point.batch == 256))
    assert BY_NAME["sweep"].draw(one) is None
    assert "two" in BY_NAME["sweep"].nothing(one)


def test_an_svg_turns_dark_where_the_page_is() -> None:
    """Its paper and ink alone: the arms keep their colours."""
    figure = PLATES[0].draw(make_results())
    assert figure is not None
    text = render(figure, "svg").decode()
    assert text.count("prefers-color-scheme: dark") == 1
    (style,) = re.findall(r"prefers-color-scheme: dark\) {(.*?)}</style>", text)
    for colour in ("#ffffff", "#1a1a1a", "#dddddd"):
        assert f'[style*="fill: {colour}"]' in style
    assert not any(look(arm).colour.lower() in style for arm in NINE if arm != "fp32")


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_nothing_stays_white_where_the_page_is_dark(plate: Any, nine: Results) -> None:
    """Light paper under ink that has turned light: text and whiskers on it were gone."""
    figure = plate.draw(nine)
    assert figure is not None
    text = render(figure, "svg").decode()
    (style,) = re.findall(r"prefers-color-scheme: dark\) {(.*?)}</style>", text)
    drawn = set(re.findall(r'style="[^"]*?fill: (#[0-9a-f]{6})', text)) - {look(arm).colour.lower() for arm in NINE}
    light = {colour for colour in drawn if min(int(colour[at : at + 2], 16) for at in (1, 3, 5)) > 0xC0}
    assert light and all(f'[style*="fill: {colour}"]' in style for colour in light), light
