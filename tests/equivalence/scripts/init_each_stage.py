# expect: safe
# shape: two stages in one function initialize one after the other; each begins with a loss scale of its own

import torch
import torch.nn as nn
from apex import amp


def backward(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def run(model, optimizer, batches, spike):
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        if i == spike:
            loss = loss * 1e36
        optimizer.zero_grad()
        backward(loss, optimizer)
        optimizer.step()
        print(i, "%.6f" % min(loss.item(), 1e3))


def main():
    torch.manual_seed(402)
    batches = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(4)]
    teacher = nn.Linear(3, 2).cuda()
    optimizer_t = torch.optim.SGD(teacher.parameters(), lr=0.1)
    teacher, optimizer_t = amp.initialize(teacher, optimizer_t, opt_level="O1")
    run(teacher, optimizer_t, batches, 1)

    student = nn.Linear(3, 2).cuda()
    optimizer_s = torch.optim.Adam(student.parameters(), lr=0.1)
    student, optimizer_s = amp.initialize(student, optimizer_s, opt_level="O1")
    run(student, optimizer_s, batches, 2)


main()
