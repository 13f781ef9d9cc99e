"""Products of sparse tensors under autocast are named."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, adjacency, x):
        x = self.fc(x)
        PRODUCT


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
before = torch.sparse.mm(eye, eye)
net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
for a, x in loader:
    loss = net(a, x).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("product", "named"),
    [
        ("return torch.sparse.mm(adjacency, x)", True),
        ("return torch.spmm(adjacency, x)", True),
        ("return torch.sparse.addmm(x, adjacency, x)", True),
        ("return torch.mm(adjacency, x)", False),  # as O1 ran it
        ("return torch.smm(adjacency, x)", False),
        ("return own.sparse.mm(adjacency, x)", False),
        (
            'with torch.autocast("cuda", enabled=False):\n            return torch.sparse.mm(adjacency, x.float())',
            False,
        ),
    ],
)
def test_a_sparse_product(product: str, named: bool) -> None:
    findings = migrate_module(TEXT.replace("PRODUCT", product), Settings()).findings
    said = [one.line for one in findings if one.rule == "APX037" and "sparse tensors" in one.message]
    assert said == ([12] if named else [])


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("return torch.tensordot(x, adjacency, dims=1)", "tensordot"),
        ("return torch.inner(x, adjacency)", "inner"),
        ("return torch.linalg.matmul(adjacency, x)", "linalg.matmul"),
        ("return torch.matmul(adjacency, x)", None),  # as O1 ran it
        ("return own.inner(x, adjacency)", None),
    ],
)
def test_what_multiplies_within_is_told(product: str, name: str | None) -> None:
    """O1 patched none of these; autocast runs the product inside in half."""
    findings = migrate_module(TEXT.replace("PRODUCT", product), Settings()).findings
    said = [one.message for one in findings if one.rule == "APX037" and "types of results" in one.message]
    assert ([f"`{name}` (line 12)" in one for one in said] == [True]) if name else not said
