"""Gradients that are only looked at between two steps are divided by the loss scale; anything else stays by hand."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp


def log(model, writer, step):
    for name, p in model.named_parameters():
        if p.grad is not None:
            LOOK


def main(model, optimizer, loader, writer):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for i, x in enumerate(loader):
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        HERE
        if i % 2:
            optimizer.step()
            AFTER
            optimizer.zero_grad()


model = torch.nn.Linear(4, 2)
main(model, torch.optim.SGD(model.parameters(), lr=0.1), [], None)
"""
LOOKS = {
    "writer.add_scalar(name, p.grad.mean(), step)": "(p.grad / scaler.get_scale()).mean()",
    "writer.add_histogram(name, p.grad.data, step)": "name, p.grad.data / scaler.get_scale(), step",
    "print(p.grad.data.norm(2).item())": "(p.grad.data / scaler.get_scale()).norm(2)",
    "print(name, torch.isnan(p.grad).any())": "torch.isnan(p.grad / scaler.get_scale())",
    "print((p.grad * 2).abs().max())": "((p.grad / scaler.get_scale()) * 2).abs()",
}
DOES = [
    "p.grad.data.clamp_(-1, 1)",
    "p.grad = p.grad * 2",
    "p.grad /= 2",
    "seen.append(p.grad)",
    "keep = p.grad",
    "torch.nn.utils.clip_grad_norm_(p, 1.0); print(p.grad.mean())",
    "torch.nn.utils.clip_grad_value_([p], p.grad.mean())",
]


def _migrated(look: str, here: str = "log(model, writer, i)", after: str = "pass") -> tuple[Applicability, str]:
    text = TEXT.replace("LOOK", look).replace("HERE", here).replace("AFTER", after)
    result = migrate_module(text, Settings())
    (unit,) = result.units
    return unit.applicability, result.new_text or text


@pytest.mark.parametrize("look", LOOKS)
def test_what_is_looked_at_is_divided(look: str) -> None:
    applicability, text = _migrated(look)
    assert applicability is Applicability.REVIEW and LOOKS[look] in text


@pytest.mark.parametrize("look", DOES)
def test_what_does_more_stays_by_hand(look: str) -> None:
    assert _migrated(look)[0] is Applicability.MANUAL


@pytest.mark.parametrize(
    "places",
    [
        {"after": "log(model, writer, i)"},
        {"here": "HOOKS.append(log)"},
        {"here": "log(model, writer, i); log(model, writer, i)"},
    ],
)
def test_functions_that_also_look_at_another_time(places: dict[str, str]) -> None:
    look, here = next(iter(LOOKS)), "log(model, writer, i)"
    applicability, text = _migrated(look, **{"here": here, **places})
    assert applicability is Applicability.MANUAL or "get_scale" not in text


def test_the_judge_knows_when_gradients_are_unscaled() -> None:
    """A clip unscales ahead of the step in the same round: what is looked at behind it was divided already."""
    here = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) if i % 2 else None\n        log(model, writer, i)"
    applicability, text = _migrated(next(iter(LOOKS)), here)
    assert applicability is Applicability.MANUAL or "get_scale" not in text


def test_a_pass_that_only_looks() -> None:
    """Fisher information (EWC): a function of its own runs backwards and looks at them, the step is another's."""
    fisher = """\
def fisher(model, optimizer, loader):
    seen = {n: 0 for n, p in model.named_parameters()}
    for x in loader:
        model.zero_grad()
        with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
            scaled_loss.backward()
        for n, p in model.named_parameters():
            seen[n] += p.grad.detach() ** 2
    model.zero_grad()
    return seen


def main("""
    text = TEXT.replace("def main(", fisher, 1).replace("HERE", "pass").replace("AFTER", "pass").replace("LOOK", "pass")
    text = text.replace("    for i, x", "    fisher(model, optimizer, loader)\n    for i, x")
    result = migrate_module(text, Settings())
    assert result.new_text is not None and "(p.grad / scaler.get_scale()).detach() ** 2" in result.new_text
    assert [u.applicability for u in result.units] == [Applicability.REVIEW]
