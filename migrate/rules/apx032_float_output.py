"""Half results are turned into float32 where they leave for numpy, lists and files, or for float32 work.

O1 patched ``Tensor.cpu()``: what was half came back as float32. Native autocast does not, so that
``logits.detach().cpu().numpy()`` would be a float16 array, and with bfloat16 an error. Where the value
is proved to be a floating result that was computed under autocast, ``.float()`` goes in before
``.cpu()``. Integer results (``argmax``, labels), losses and softmax (float32 under autocast anyway),
and values whose type does not matter (``.item()``, ``.tolist()``, ``.float()``) stay as they are.

O1 also cast the operands of its float32 functions (``sum``, ``pow``, ``exp``, ``F.softmax`` …) wherever they
were called; natively only a region does. Behind a region such an operand gets ``.float()``, and so does the
half factor of a product with a float32 tensor, which would be an error. The factors of a product that is
added in place (``dist.addmm_(x, y.t())``) get the type of what they are added to, as O1 cast them to that;
autocast leaves operations in place alone. A model whose forward adds its own input in place to what a layer gave
(``out += x``) is named: a half result stays half, where O1 made a new float32 tensor of it.

Under autocast as well: a variance (``x.var(0)``, ``torch.std(x)``) is computed in the type it is handed, which O1 cast
to float32, and the square of what float16 holds is often none that it holds; what is a tensor for sure gets
``.float()``. So does what a network multiplies with a trained number (CLIP's temperature), which O1 made float32 of:
the number's gradient is a sum that float16 seldom holds times the loss scale.

Where the code that takes a result from the GPU, or computes one of O1's float32 functions or a product with it,
stands in a file that is not migrated with this one, what it is handed gets ``.float()``. A list or dictionary of
results stays what it is: the finding names the function. A function that is handed to another package, which calls it
(ignite's ``Engine(inference)``, whose metrics compute a loss of what it returns), returns its half results as float32,
and the unit is *review*.

O1 cast float64 as it did float32, autocast leaves it alone: a product of a float64 input and a float32 weight is an
error then. Where the file shows that a model or a loss is handed float64 (``.double()``, ``dtype=torch.float64``, an
array that numpy made; through lists, comprehensions and what is unpacked, too), ``.float()`` makes it float32, and the
unit is *review*. Where it may be something else as well, an item of a dictionary say, nothing is added, and the unit is
*review* all the same.

``.to("cpu")`` was not patched; only with bfloat16 it gets ``.float()`` too, before ``.numpy()``.

Source: apex/amp/lists/tensor_overrides.py at tag 25.05 (FP32_FUNCS has ``cpu``).
"""

from __future__ import annotations

from .common import Plan, Stage, Work
from .converting import convert

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
    for found in plan.hazards.operands:
        if work.draft.gone(found.operand):
            continue
        if found.like is not None:
            convert(work, found.operand, f".to({found.like}.dtype)")
            work.note(plan.unit.number, ID, found.node, "the factor gets the type of what it is added to, as under O1")
        else:
            convert(work, found.operand, ".float()")
            work.note(plan.unit.number, ID, found.node, "the operand is turned into float32, as O1 did everywhere")
