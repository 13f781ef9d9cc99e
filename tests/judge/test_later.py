"""What runs later than where it is called: the rest of a generator, and coroutines."""

from __future__ import annotations

from tests.judge.support import judged_case

TEXT = """\
import asyncio
import torch
import torch.nn.functional as F
from apex import amp


def watched(data, net, log):
    for batch in data:
        yield batch
        log.append([p.grad.norm() for p in net.parameters()])


async def score(net, x, y):
    return F.mse_loss(net(x), y)


async def train(net, data, log):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    waiting = []
    for i, (x, y) in enumerate(watched(data, net, log)):
        loss = F.mse_loss(net(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        if i % 2:
            optimizer.step()
            optimizer.zero_grad()
        waiting.append(asyncio.ensure_future(score(net, x, y)))
    return await asyncio.gather(*waiting)
"""
EACH = TEXT.replace("        if i % 2:\n    ", "").replace("    optimizer.zero_grad", "optimizer.zero_grad")
LATER = "        waiting.append(asyncio.ensure_future(score(net, x, y)))\n"
REGION = 'with torch.autocast("cuda", dtype=torch.float16):\n'


def test_the_loop_of_a_generator_reads_gradients_between_micro_batches() -> None:
    case = judged_case(TEXT)
    assert case is not None and case.verdict.differences
    assert "while they are still scaled" in case.verdict.differences[0].said


def test_a_coroutine_is_no_part_of_the_region_that_makes_it() -> None:
    case = judged_case(EACH)
    assert case is not None and not case.verdict.differences
    assert f"    {REGION}        return F.mse" in case.text
    found = case.judged(case.text.replace(LATER, f"        {REGION}    {LATER}"))
    assert found is not None and "a coroutine is made here" in found.said


def test_one_that_is_waited_for_at_once_runs_there() -> None:
    case = judged_case(EACH.replace("asyncio.ensure_future(score(net, x, y))", "await score(net, x, y)"))
    assert case is not None and not case.verdict.differences
    assert "await score" in case.text
