"""Half results are turned into float32 where they leave for numpy, lists and files.

O1 patched ``Tensor.cpu()``: what was half came back as float32. Native autocast does not, so that
``logits.detach().cpu().numpy()`` would be a float16 array, and with bfloat16 an error. Where the value
is proved to be a floating result that was computed under autocast, ``.float()`` goes in before
``.cpu()``. Integer results (``argmax``, labels), losses and softmax (float32 under autocast anyway),
and values whose type does not matter (``.item()``, ``.tolist()``, ``.float()``) stay as they are.
``.to("cpu")`` was not patched; only with bfloat16 it gets ``.float()`` too, before ``.numpy()``.

Source: apex/amp/lists/tensor_overrides.py at tag 25.05 (FP32_FUNCS has ``cpu``).
"""

from __future__ import annotations

from migrate.rules.common import Plan, Stage, Work

ID = "APX032"
STAGE = Stage.UNIT
BEFORE = """\
preds.append(logits.detach().cpu().numpy())
"""
AFTER = """\
preds.append(logits.detach().float().cpu().numpy())
"""


def apply(plan: Plan, work: Work) -> None:
    """Write ``.float()`` where a half result leaves."""
    for output in plan.hazards.outputs:
        if work.draft.gone(output.call):
            continue
        work.draft.insert_at(output.offset, ".float()")
        work.note(plan.unit.number, ID, output.call, "the result is turned into float32, as Apex's Tensor.cpu() did")
