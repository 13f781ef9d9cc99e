"""A native class that serves in the place of one that scales as Apex does, both imported by other names."""

from __future__ import annotations

import shutil
from pathlib import Path

from migrate import cli
from migrate.engine import migrate_module
from migrate.model import Settings
from tests.equivalence.harness import HERE


def _migrated(tmp_path: Path, more: str) -> tuple[str, str]:
    folder = tmp_path / "project"
    shutil.copytree(HERE / "projects" / "backends_by_other_names", folder)
    scalers = folder / "scalers.py"
    scalers.write_text(scalers.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert cli.main([str(folder), "--write", "-j", "1"]) == 0
    return (folder / "case.py").read_text(encoding="utf-8"), scalers.read_text(encoding="utf-8")


def test_what_nobody_makes_any_more_goes_with_its_import(tmp_path: Path) -> None:
    case, scalers = _migrated(tmp_path, "")
    assert "apex" not in scalers.lower() and "ApexScalerAccum" not in case and "import NativeScalerAccum" in case


def test_a_class_that_is_named_elsewhere_stays_and_is_native_inside(tmp_path: Path) -> None:
    """Nothing that runs it is known to initialize, which is no reason to overlook its step."""
    case, scalers = _migrated(tmp_path, '\n\nNAMES = ["ApexScalerAccum"]\n')
    assert "class ApexScalerAccum:" in scalers and ".scaler.step(optimizer)" in scalers
    assert "import amp" not in case + scalers


VALIDATION = """\
import argparse
from contextlib import suppress

import torch
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--apex-amp", action="store_true")
parser.add_argument("--native-amp", action="store_true")


def validate(args, loader):
    amp_autocast = suppress
    if args.amp:
        if has_native_amp:
            args.native_amp = True
        else:
            args.apex_amp = True
    if args.native_amp:
        amp_autocast = torch.cuda.amp.autocast
    elif args.apex_amp:
        print("with Apex")
    model = build(args.model).cuda()
    if args.apex_amp:
        model = amp.initialize(model, opt_level="O1")
    with torch.no_grad():
        for x in loader:
            with amp_autocast():
                print(model(x))


def main():
    args = parser.parse_args()
    for args.model in args.models:
        validate(args, data())


main()
"""


def _rules(text: str) -> set[str]:
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    return {one.rule for one in result.findings}


def test_a_flag_that_is_turned_on_further_up_chooses_the_same_in_each_call() -> None:
    """The judge asks which arm has turned it on, and what is set beside it belongs to that."""
    assert _rules(VALIDATION) == {"APX043", "APX093"}


def test_a_flag_that_is_turned_on_behind_what_asks_it_chooses_something_else() -> None:
    late = VALIDATION.replace("    model = build(", "    args.apex_amp = later()\n    model = build(")
    assert "APX031" in _rules(late)


STATE_OUTSIDE = """\
import torch
from apex import amp


class ApexScaler:
    def __call__(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def main(args, loader):
    model = torch.nn.Linear(5, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    scaler = ApexScaler()
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler(loss, optimizer)
    torch.save(amp.state_dict(), "amp")
"""


def test_a_class_that_scales_is_handed_the_scaler_whose_state_another_saves() -> None:
    """Without that it makes one of its own, which nobody else comes by."""
    text = migrate_module(STATE_OUTSIDE, Settings()).new_text or ""
    assert "def __call__(self, loss, optimizer, grad_scaler):" in text and "torch.save(grad_scaler.state_dict()" in text
    alone = STATE_OUTSIDE.replace("    torch.save(amp.state_dict(), \"amp\")\n", "")
    assert "self.grad_scaler.step(optimizer)" in (migrate_module(alone, Settings()).new_text or "")
