# expect: manual
import torch
from apex import amp
import pytest


@pytest.fixture
def setup():
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    yield amp.initialize(model, optimizer, opt_level="O1")


def test_step(setup, x, y):
    model, optimizer = setup
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
