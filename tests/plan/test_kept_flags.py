"""A flag that goes on asking for a part of Apex switches mixed precision as a whole: no loss is left unscaled."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch

try:
    from apex import amp
    MORE
    HAS = True
except ImportError:
    HAS = False


def train(args, model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16 and HAS:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        if args.fp16 and HAS:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        else:
            loss.backward()
        optimizer.step()
"""
NORMALIZATION = "from apex.normalization import FusedLayerNorm"
ATTENTION = "from apex.contrib.multihead_attn import SelfMultiheadAttn"
PARTS = ["import apex.contrib.xentropy", f"{ATTENTION}\n    LAYER = SelfMultiheadAttn"]


@pytest.mark.parametrize("more", PARTS)
def test_the_scaler_is_off_where_its_backward_is(more: str) -> None:
    result = migrate_module(TEXT.replace("MORE", more), Settings())
    assert [unit.applicability.value for unit in result.units] == ["review"]
    assert result.new_text is not None
    assert "enabled=bool(args.fp16 and HAS))" in result.new_text and "if args.fp16 and HAS:" in result.new_text
    assert any("`HAS` is set beside imports of Apex that stay" in finding.message for finding in result.findings)


def test_a_flag_that_asks_for_amp_alone_goes() -> None:
    result = migrate_module(TEXT.replace("    MORE\n", ""), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert result.new_text is not None and "HAS" not in result.new_text


@pytest.mark.parametrize(
    "more",
    [
        ATTENTION,
        NORMALIZATION,
        "from apex.parallel import DistributedDataParallel as DDP, convert_syncbn_model",
    ],
)
def test_what_nothing_uses_beside_amp_goes_with_it(more: str) -> None:
    result = migrate_module(TEXT.replace("MORE", more), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"] and not result.findings
    assert result.new_text is not None and "HAS" not in result.new_text and "apex" not in result.new_text


def test_what_has_been_asked_for_alone_stays() -> None:
    alone = TEXT.replace("    MORE\n", "").replace("from apex import amp", NORMALIZATION)
    text = alone.replace("import torch\n", "import torch\nfrom apex import amp\n", 1)
    result = migrate_module(text, Settings())
    assert result.new_text is not None and "FusedLayerNorm" in result.new_text and "HAS = False" in result.new_text
