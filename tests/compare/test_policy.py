"""The dtype policy: facts that must come out, both sides' lists covered, the rule of the meanings, the output."""

from __future__ import annotations

import importlib.util
import io
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from rich.console import Console
from torch import nn
from torch.autograd.profiler import profile
from torch.utils._pytree import tree_leaves

from compare.errors import UserError
from compare.policy import apex_o1, command, recorded, render
from compare.policy.meanings import clause, compare_inside
from compare.policy.native import header, native_lists, probe_native, probe_plain
from compare.policy.network import conclusion, differences, trace
from compare.policy.ops import OPS, Op
from compare.policy.probe import (
    Call,
    Inputs,
    Log,
    Observation,
    cases,
    cuda_autocast,
    fake_cuda,
    first_line,
    observe,
)
from compare.policy.table import PolicyTable, Row, policy_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "policy.md"
BY_NAME = {op.name: op for op in OPS}
RECORDED_TORCH = recorded.load().torch

# What the table says depends on torch's version; where it has to be one, it is the recorded one.
same_torch = pytest.mark.skipif(
    torch.__version__.partition("+")[0] != RECORDED_TORCH.partition("+")[0] or torch.version.cuda is None,
    reason=f"the recorded results belong to torch {RECORDED_TORCH}, built with CUDA",
)


@pytest.fixture(scope="module")
def table() -> PolicyTable:
    return policy_table()


@pytest.fixture(scope="module")
def rows(table: PolicyTable) -> dict[str, Row]:
    return {row.op: row for row in table.rows}


def outcomes(row: Row, side: str) -> list[str]:
    return [render.outcome(getattr(case, side)) for case in row.cases]


# ---------------------------------------------------------------- facts


@pytest.mark.parametrize(
    ("op", "apex", "native"),
    [
        ("torch.mm", "f16 f16 f16", "f16 f16 f16"),
        ("F.linear", "f16 f16 f16", "f16 f16 f16"),
        ("F.conv2d", "f16 f16 f16", "f16 f16 f16"),
        ("torch.bmm", "f16 f16 f16", "f16 f16 f16"),
        ("torch.exp", "f32 f32", "f32 f32"),
        ("F.softmax", "f32 f32", "f32 f32"),
        ("F.layer_norm", "f32 f32 f32", "f32 f32 f32"),
        ("nn.BatchNorm2d(train)", "f16 f32 f16", "f16 f32 f16"),
        ("F.relu", "f16 f32", "f16 f32"),
        ("Tensor.__add__", "f16 f32 f32", "f16 f32 f32"),
        ("torch.cat", "f16 f32 f32", "f16 f32 f32"),
        ("F.cross_entropy", "f32 f32", "f32 f32"),
    ],
)
def test_ops_that_are_the_same(rows: dict[str, Row], op: str, apex: str, native: str) -> None:
    assert outcomes(rows[op], "apex") == apex.split()
    assert outcomes(rows[op], "native") == native.split()
    assert (rows[op].verdict, rows[op].effects) == ("same", ())


@pytest.mark.parametrize(
    ("op", "apex", "native", "effects"),
    [
        ("torch.einsum", "f16 f32 error", "f16 f16 f16", {"faster", "more permissive"}),
        ("F.scaled_dot_product_attention", "f16 f32 error", "f16 f16 f16", {"faster", "more permissive"}),
        ("F.gelu", "f32 f32", "f16 f32", {"less precise"}),
        ("torch.var", "f32 f32", "f16 f32", {"less precise"}),
        ("torch.softmax", "f16 f32", "f32 f32", {"more precise"}),
        ("torch.tensordot", "f16 f32 error", "f16 f32 f32", {"more permissive"}),
        ("F.binary_cross_entropy", "error f32 error", "error error error", {"refused"}),
        ("F.binary_cross_entropy(x.float())", "f32 f32 f32", "error error error", {"refused"}),
        ("Tensor.exp_", "error f32", "f16 f32", {"in place"}),
        ("t += y", "f16 f32 f32", "f16 f32 f16", {"in place"}),
        ("Tensor.cpu", "f32 f32", "f16 f32", {"less precise"}),
        ("torch.mm(float64)", "f16", "f64", {"float64 kept"}),
        ("torch.add(bfloat16, float16)", "error", "f32", {"more permissive"}),
    ],
)
def test_ops_that_differ(rows: dict[str, Row], op: str, apex: str, native: str, effects: set[str]) -> None:
    assert outcomes(rows[op], "apex") == apex.split()
    assert outcomes(rows[op], "native") == native.split()
    assert (rows[op].verdict, set(rows[op].effects)) == ("different", effects)
    assert rows[op].meaning


def test_without_amp_nothing_is_cast(rows: dict[str, Row]) -> None:
    assert outcomes(rows["torch.mm"], "plain") == ["f16", "f32", "error"]
    assert outcomes(rows["torch.exp"], "plain") == ["f16", "f32"]


@same_torch
def test_cross_entropy_differs_inside(rows: dict[str, Row]) -> None:
    row = rows["F.cross_entropy"]
    low = row.cases[0]
    assert str(low.apex.inside[0]) == "_log_softmax(float32) -> float32"
    assert str(low.native.inside[0]) == "_log_softmax(float16) -> float16"
    assert (row.verdict, row.inside, row.matters) == ("same", "less precise", True)
    assert "log_softmax in float16" in row.meaning
    parity = rows["F.cross_entropy(x.float())"]
    assert (parity.inside, parity.matters, parity.meaning) == ("same", False, "")


@pytest.fixture
def only_mm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of one op: a second for what takes five."""
    ops = (BY_NAME["torch.mm"],)
    monkeypatch.setattr("compare.policy.table.OPS", ops)
    monkeypatch.setattr("compare.policy.table.probe_plain", lambda low: probe_plain(low, ops))
    monkeypatch.setattr("compare.policy.table.probe_native", lambda low: probe_native(low, ops))


def test_native_bfloat16_takes_the_place_of_float16(only_mm: None) -> None:
    (row,) = policy_table(dtype="bfloat16").rows
    assert outcomes(row, "native") == ["bf16", "bf16", "bf16"]
    assert outcomes(row, "apex") == ["f16", "f16", "f16"]
    assert (row.verdict, row.inside) == ("same", "same")


def test_nothing_stays_switched_on(table: PolicyTable) -> None:
    assert table.rows
    assert not torch.is_autocast_enabled("cuda")
    assert not hasattr(torch.mm, "__wrapped__")
    assert torch.get_default_dtype() is torch.float32


# ---------------------------------------------------------------- is the table complete?

REACHED = frozenset(name for op in OPS for name in op.reaches)


def test_every_op_on_the_native_lists_is_there() -> None:
    if not header().is_file():
        pytest.skip("this torch ships no ATen/autocast_mode.h")
    lists = native_lists()
    assert {"mm", "conv_transpose2d.input"} <= set(lists["LOWER_PRECISION_FP"])
    assert {"exp", "pow.Tensor_Scalar"} <= set(lists["FP32"])
    assert "sum.dim_IntList" in lists["FP32_SET_OPT_DTYPE"]
    assert "norm.ScalarOpt_dim" in lists["DIFFERENT_REDISPATCH_SIGNATURE"]
    assert "index_put" in lists["PROMOTE"]
    assert [(name, op) for name, ops in lists.items() for op in ops if op not in REACHED] == []


def test_every_name_apex_patches_is_there() -> None:
    side = recorded.load()
    assert len(side.patched) > 150
    assert [name for name in side.patched if name not in REACHED] == []
    listed = [f"{place.partition('.')[0]}.{name}" for place, names in side.lists.items() for name in names]
    assert [name for name in listed if name not in side.patched] == []


def test_what_an_op_says_it_reaches_is_reached() -> None:
    """torch's profiler sees every dispatcher call: each native entry is run by an op that claims it."""
    entries = {entry for ops in native_lists().values() for entry in ops}
    missing = set(entries)
    fake = fake_cuda()
    for op in OPS:
        claims = op.reaches & missing
        if op.unprobed:
            missing -= op.reaches
        elif claims:
            with cuda_autocast(torch.float16), profile() as seen:
                observe(op.call, ("float16", "float32"), fake)
            run = {event.name for event in seen.function_events or ()}
            missing -= {claim for claim in claims if f"aten::{claim.partition('.')[0]}" in run}
    assert missing == set()


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(OPS)


def test_what_is_not_probed_has_a_reason(table: PolicyTable) -> None:
    left_out = {row.op: row.meaning for row in table.rows if row.verdict == "not probed"}
    assert {op.name for op in OPS if op.unprobed} <= set(left_out)
    assert [name for name, why in left_out.items() if not why.startswith("not probed: ")] == []
    assert set(left_out) <= {op.name for op in OPS if op.unprobed} or torch.version.cuda is None


# ---------------------------------------------------------------- do fake kernels say what real ones do?


class _OnTheCpu(Inputs):
    def of(self, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return torch.rand(shape).to(dtype)

    def index(self, *shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=torch.int64)

    def mask(self, *shape: int) -> torch.Tensor:
        return torch.ones(shape, dtype=torch.bool)

    def module(self, build: Callable[[], Any]) -> Any:
        return build().to(self._other)


_ONLY_THE_CPU = (
    "not implemented for 'Half'",
    "Could not run 'aten::",
    "Unsupported dtype Half",
    "linalg.cholesky: The factorization could not be completed",
)
# Its mean and standard deviation are float32 on CUDA only.
_DEVICE_DECIDES = {"torch.native_layer_norm"}


def _really(op: Op, case: tuple[str, str]) -> str | None:
    """Output dtypes or `error` of real tensors on the CPU; None where the CPU has no such kernel."""
    try:
        out = op.call(_OnTheCpu(case, Log()))
    except Exception as error:
        return None if any(text in first_line(error) for text in _ONLY_THE_CPU) else "error"
    return render.outcome(Observation((), tuple(str(leaf.dtype).removeprefix("torch.") for leaf in tree_leaves(out))))


@same_torch
def test_fake_cuda_results_are_those_of_real_tensors() -> None:
    seen = probe_plain()
    checked, wrong = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in OPS:
            if op.unprobed or op.name in _DEVICE_DECIDES:
                continue
            for case, fake in zip(cases("float16"), seen[op.name], strict=True):
                real = _really(op, case)
                if real is not None and not fake.unprobed:
                    checked += 1
                    if real != render.outcome(fake):
                        wrong.append(f"{op.name} {case}: real {real}, fake {render.outcome(fake)}")
    assert wrong == []
    assert checked > 1200


# ---------------------------------------------------------------- the recording


def test_the_recording_holds_every_op() -> None:
    side = recorded.load()
    assert side.apex == "25.05"
    assert list(side.ops) == list(BY_NAME)
    assert {len(found) for found in side.ops.values()} == {3}
    assert recorded.ApexSide.from_json(json.loads(side.dumps())) == side


def test_an_op_that_was_not_recorded_is_not_guessed(monkeypatch: pytest.MonkeyPatch, only_mm: None) -> None:
    side = recorded.load()
    del side.ops["torch.mm"]
    monkeypatch.setattr(recorded, "load", lambda: side)
    (row,) = policy_table().rows
    assert (row.verdict, "record again" in row.meaning) == ("not probed", True)


def test_the_table_names_its_sources(table: PolicyTable) -> None:
    text = " ".join(table.notes)
    assert f"Apex 25.05 with torch {RECORDED_TORCH}, recorded" in text
    assert f"torch {torch.__version__}" in text


# ---------------------------------------------------------------- the rule


def _seen(given: str, outputs: str = "", error: str | None = None) -> Observation:
    return Observation(tuple(given.split()), tuple(outputs.split()), error)


HALF, FLOAT = "float16", "float32"
REFUSED = "NotImplementedError: no"


@pytest.mark.parametrize(
    ("plain", "apex", "native", "in_place", "effect", "text"),
    [
        (_seen(FLOAT, FLOAT), _seen(FLOAT, FLOAT), _seen(FLOAT, FLOAT), False, None, ""),
        (_seen(FLOAT, FLOAT), _seen(FLOAT, FLOAT), _seen(FLOAT, HALF), False, "faster", "where O1 stayed in float32"),
        (_seen(HALF, HALF), _seen(HALF, FLOAT), _seen(HALF, HALF), False, "less precise", "add .float() for parity"),
        (_seen(HALF, HALF), _seen(HALF, HALF), _seen(HALF, FLOAT), False, "more precise", "more memory"),
        (_seen(HALF, HALF), _seen(HALF, FLOAT), _seen(HALF, "", REFUSED), False, "refused", "on float16 where O1 gave"),
        (_seen(HALF, HALF), _seen(HALF, "", REFUSED), _seen(HALF, HALF), True, "in place", "silently stays float16"),
        (_seen(HALF, HALF), _seen(HALF, "", REFUSED), _seen(HALF, HALF), False, "more permissive", "NotImplemented"),
        (_seen(HALF, HALF), _seen(HALF, FLOAT), _seen(HALF, HALF), True, "in place", "new float32 tensor"),
        (_seen(HALF, "", REFUSED), _seen(HALF, "", REFUSED), _seen(HALF, "", REFUSED), False, None, ""),
        (
            _seen("float64", "float64"),
            _seen("float64", HALF),
            _seen("float64", "float64"),
            False,
            "float64 kept",
            "alone",
        ),
        (
            _seen("float16 float32", "", REFUSED),
            _seen("float16 float32", "", REFUSED),
            _seen("float16 float32", FLOAT),
            False,
            "more permissive",
            "an error on float16 with float32; native gives float32",
        ),
        (
            _seen(HALF, HALF),
            _seen(HALF, "float16 bool"),
            _seen(HALF, HALF),
            False,
            "other",
            "where O1 gave float16, bool",
        ),
    ],
)
def test_the_rule(
    plain: Observation, apex: Observation, native: Observation, in_place: bool, effect: str | None, text: str
) -> None:
    found = clause(plain, apex, native, low=HALF, in_place=in_place)
    assert (found.effect if found else None) == effect
    assert found is None or text in found.text


def test_what_was_not_probed_is_not_judged() -> None:
    unknown = Observation((), unprobed="no GPU")
    for apex, native in ((unknown, _seen(HALF, HALF)), (_seen(HALF, FLOAT), unknown)):
        assert clause(_seen(HALF, HALF), apex, native, low=HALF, in_place=False) is None
        assert compare_inside(apex, native, HALF) == ("not compared", ())


@pytest.mark.parametrize(
    ("apex", "native", "verdict"),
    [
        ("mm(float16) -> float16", "mm(float16) -> float16", "same"),
        ("sum(float32) -> float32", "sum(float16) -> float32", "same values"),
        ("mul(float32) -> float32", "mul(float16) -> float16", "less precise"),
        ("mul(float16) -> float16", "mul(float32) -> float32", "more precise"),
        ("neg(float32) -> float32", "neg(float16) -> float16", "same values"),
        ("mul(float32) -> float32", "div(float32) -> float32", "other ops"),
    ],
)
def test_the_rule_for_the_inside(apex: str, native: str, verdict: str) -> None:
    ours, theirs = (Observation((HALF,), (FLOAT,), inside=(Call.parse(text),)) for text in (apex, native))
    assert compare_inside(ours, theirs, HALF)[0] == verdict


@pytest.mark.parametrize("text", ["mm(float16, float32) -> float32", "eq(float16) -> no floating tensor"])
def test_a_call_is_read_back(text: str) -> None:
    assert str(Call.parse(text)) == text


def test_every_difference_has_a_meaning_and_nothing_else_has(table: PolicyTable) -> None:
    assert [row.op for row in table.rows if bool(row.meaning) != (row.matters or row.verdict == "not probed")] == []
    assert [row.op for row in table.rows if (row.verdict == "different") != bool(row.effects)] == []
    assert [row.op for row in table.rows if "other" in row.effects] == []


# ---------------------------------------------------------------- limits of the probe


def test_data_that_a_fake_tensor_lacks_is_said() -> None:
    seen = observe(lambda x: float(x.a(1)), ("float16", "float32"), fake_cuda())
    assert seen.unprobed and "depends on the data" in seen.unprobed


def test_a_function_this_torch_lacks_is_said() -> None:
    seen = observe(lambda x: getattr(torch, "no_such_op")(x.a(1)), ("float16", "float32"), fake_cuda())  # noqa: B009
    assert seen.unprobed and "no such function" in seen.unprobed


def test_dtypes_that_only_a_real_kernel_refuses_are_refused() -> None:
    seen = observe(BY_NAME["torch.mm"].call, ("float16", "float32"), fake_cuda())
    assert seen.error == "MixedDtypes: mm takes tensors of one dtype and was given float16, float32"


def test_low_dtype_is_what_was_asked_for() -> None:
    (found,) = probe_native("bfloat16", (BY_NAME["torch.mm"],)).values()
    assert {seen.outputs for seen in found} == {("bfloat16",)}


def test_an_unknown_dtype_is_an_error() -> None:
    with pytest.raises(ValueError, match="float16 or bfloat16"):
        policy_table(dtype="float8")


# ---------------------------------------------------------------- the network


def test_the_network_runs_in_float16_but_for_its_loss(table: PolicyTable) -> None:
    summary = table.native_network.summary()
    assert summary["convolutions"] == {"float16 x float16 -> float16": 53}
    assert sum(summary["batch norms"].values()) == 53
    assert all(dtypes.startswith("float16 x float32") for dtypes in summary["batch norms"])
    assert sum(summary["matrix products"].values()) == 1
    assert summary["casts"]["float32 -> float16"] > 53
    assert (table.native_network.logits, table.native_network.loss) == ("float16", "float32")


@same_torch
def test_o1_and_native_run_the_same_network_but_for_log_softmax(table: PolicyTable) -> None:
    assert differences(table.apex_network, table.native_network) == (
        "Apex O1 only: 1 x _log_softmax(float32) -> float32",
        "native only: 1 x _log_softmax(float16) -> float16",
    )
    assert "174 of 175 ops in the same dtypes" in table.network


def test_any_model_can_be_traced() -> None:
    def build() -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 10))

    low, without = trace(build, image=(3, 2, 2)), trace(build, dtype=None, image=(3, 2, 2))
    assert (low.logits, without.logits) == ("float16", "float32")
    assert low.summary()["matrix products"] == {"float16 x float16 x float16 -> float16": 1}
    assert "casts" not in without.summary()
    assert "they differ in" in conclusion(without, low)
    assert "the same 3 ops in the same dtypes." in conclusion(low, low)


def test_bfloat16_stands_for_float16_in_the_comparison_of_traces() -> None:
    def build() -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 10))

    half, brain = (trace(build, image=(3, 2, 2), dtype=dtype) for dtype in ("float16", "bfloat16"))
    assert differences(half, brain, "bfloat16") == ()
    assert differences(half, brain) != ()


# ---------------------------------------------------------------- output


def _printed(table: PolicyTable, width: int, *, only_differences: bool) -> str:
    out = io.StringIO()
    render.render_text(table, Console(width=width, file=out), only_differences=only_differences)
    return out.getvalue()


def test_text(table: PolicyTable) -> None:
    everything, differing = (_printed(table, 240, only_differences=only) for only in (False, True))
    assert "F.relu " in everything and "F.relu " not in differing
    narrow = _printed(table, 120, only_differences=True)
    heads = [next(line for line in text.splitlines() if "after a migration" in line) for text in (differing, narrow)]
    assert ["no amp" in head for head in heads] == [True, False]
    assert "O1 f16 / f32 / error, native f16 / f16 / f16" in narrow
    for text in (everything, differing):
        assert "torch.einsum" in text and "F.cross_entropy(label_smoothing)" in text
        assert "recorded, not observed here" in text and "convolutions: 53 in float16" in text


def test_json(table: PolicyTable) -> None:
    data = json.loads(render.to_json(table))
    assert (data["schema"], data["dtype"], data["apex"]["source"]) == (1, "float16", "recorded")
    assert len(data["rows"]) == len(OPS)
    mm = next(row for row in data["rows"] if row["op"] == "torch.mm")
    assert mm["cases"][1]["native"]["outputs"] == ["float16"]
    fewer = json.loads(render.to_json(table, only_differences=True))["rows"]
    assert [row["op"] for row in fewer] == [row.op for row in table.rows if row.matters]


def test_markdown(table: PolicyTable) -> None:
    text = render.to_markdown(table, only_differences=True)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count(" | ") for line in lines if not line.startswith("|-")} == {5}
    assert all(f"`{row.op}`" in text for row in table.rows if row.matters)


# ---------------------------------------------------------------- the command


@pytest.fixture
def no_apex(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.delenv("APEX_SRC", raising=False)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "apex" else find(name))
    yield monkeypatch


def _run(**given: Any) -> int:
    usual: dict[str, Any] = {"dtype": "float16", "only_differences": True, "format": "json"}
    return command.run(**(usual | {"live": False, "record": None} | given))


@pytest.mark.parametrize(("format", "start"), [("json", "{"), ("markdown", "# Apex O1"), ("text", "Apex O1 beside")])
def test_the_command_prints(only_mm: None, capsys: pytest.CaptureFixture[str], format: str, start: str) -> None:
    assert _run(format=format, only_differences=False) == 0
    out = capsys.readouterr().out
    assert out.startswith(start) and "torch.mm" in out


@pytest.mark.parametrize("given", [{"live": True}, {"record": Path("never.json")}])
def test_without_apex_it_says_what_to_do(no_apex: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="set APEX_SRC to a checkout of NVIDIA Apex"):
        _run(**given)
    assert not Path("never.json").exists()


def test_a_wrong_folder_is_named(no_apex: pytest.MonkeyPatch, tmp_path: Path) -> None:
    no_apex.setenv("APEX_SRC", str(tmp_path))
    with pytest.raises(UserError, match="holds no apex/amp"):
        _run(live=True)


def test_an_apex_that_fails_is_quoted(no_apex: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lists = tmp_path / "apex" / "amp" / "lists"
    lists.mkdir(parents=True)
    (lists / "torch_overrides.py").touch()
    (tmp_path / "apex" / "__init__.py").write_text("raise RuntimeError('too old')\n", encoding="utf-8")
    no_apex.setenv("APEX_SRC", str(tmp_path))
    with pytest.raises(UserError, match=r"could not be observed with torch .*RuntimeError: too old"):
        _run(live=True)


def test_a_recording_needs_a_folder(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "o1.json"):
        with pytest.raises(UserError, match="name a file in a folder that exists"):
            _run(record=place)


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(UserError, match="it can be float16 or bfloat16"):
        _run(dtype="half")


# ---------------------------------------------------------------- the page

START, END = "<!-- differences: generated -->", "<!-- end of differences -->"


@same_torch
def test_the_page_lists_the_differences(table: PolicyTable) -> None:
    text = PAGE.read_text(encoding="utf-8")
    inside = text.partition(START)[2].partition(END)[0].strip()
    assert inside == render.markdown_rows(row for row in table.rows if row.matters), (
        "docs/policy.md is out of date: between its markers belongs what render.markdown_rows gives"
    )
    assert render.counts(table) in text.replace("\n", " ")


# ---------------------------------------------------------------- the real Apex


def _has_apex() -> bool:
    try:
        apex_o1.find_apex()
    except UserError:
        return False
    return True


@pytest.mark.apex
@pytest.mark.skipif(not _has_apex(), reason="no Apex 25.05 or older: not installed, and APEX_SRC does not name one")
@same_torch
def test_the_recording_is_what_apex_does_now(tmp_path: Path) -> None:
    """Through `record`, so that its file is checked as well."""
    now = apex_o1.record(tmp_path / "again.json")
    assert recorded.load(tmp_path / "again.json") == now
    then = recorded.load()
    assert (now.lists, now.patched, now.network) == (then.lists, then.patched, then.network)
    assert [name for name in now.ops if now.ops[name] != then.ops[name]] == []
    assert now.apex == then.apex
