"""A function that no one calls switches no casts on for what another file runs."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_program
from migrate.model import FileText, Settings

NET = """\
import torch
from apex import amp


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


def try_net():
    net = Net().cuda()
    net = amp.initialize(net, opt_level="O1")
    print(net(torch.randn(2, 4).cuda()))


def try_net_alone():
    net = Net().cuda()
    net = amp.initialize(net, opt_level="O1")
    print(net(torch.randn(2, 4).cuda()))


if __name__ == "__main__":
    try_net()
"""
TRAIN = """\
import torch
from apex import amp
from net import Net


def train(loader, val_loader, criterion, apex):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
    with torch.no_grad():
        for x, y in val_loader:
            print(criterion(model(x), y).item())


if __name__ == "__main__":
    train([], [], torch.nn.MSELoss(), True)
"""
ALWAYS = 'with torch.autocast("cuda", dtype=torch.float16):\n                print('
ASKED = 'with torch.autocast("cuda", dtype=torch.float16, enabled=apex):\n                print('


def _train(net: str, train: str = TRAIN) -> str:
    files = [FileText(net, name="net.py"), FileText(train, name="train.py", links={"net": 0})]
    return migrate_program(files, Settings())[1].new_text or ""


def test_neither_called_nor_led_to_by_what_runs() -> None:
    assert ASKED in _train(NET)


def test_what_may_be_run_after_all() -> None:
    assert ALWAYS in _train(NET, TRAIN.replace("import Net", "import Net, try_net_alone") + "    try_net_alone()\n")
    assert ALWAYS in _train(NET + "\nTRIALS = {\"alone\": try_net_alone}\n")
    assert ALWAYS in _train(NET.replace("def try_net_alone", "@trial\ndef try_net_alone"))
    by_name = TRAIN.replace("    for x, y in loader", '    getattr(net, "try_net_alone")()\n    for x, y in loader')
    assert ALWAYS in _train(NET, by_name)


MODULE = TRAIN.replace('if __name__ == "__main__":\n    train([], [], torch.nn.MSELoss(), True)\n', "")
MAIN = """\
import torch
from train import train
from net import Net


def evaluate(model, loader):
    with torch.no_grad():
        return [model(x) for x in loader]


def main(loader):
    model = Net().cuda()
    train(loader, [], torch.nn.MSELoss(), True)
    return evaluate(model, loader)
"""


@pytest.mark.parametrize(("behind", "switched"), [("", True), ("\nprint('nothing')\n", False)])
def test_a_file_that_runs_nothing_is_begun_with_one_of_its_functions(behind: str, switched: bool) -> None:
    """An entry point of a package: nobody here calls its `main`."""
    plain = NET[: NET.index("\n\ndef try_net")].replace("from apex import amp\n", "")
    files = [FileText(plain, name="net.py"), FileText(MODULE, name="train.py", links={"net": 0})]
    files.append(FileText(MAIN + behind, name="main.py", links={"train": 1, "net": 0}))
    assert ("torch.autocast" in (migrate_program(files, Settings())[2].new_text or "")) is switched
