# expect: safe
# shape: a helper inside of the training function runs the backward for each task, and a round may have none

import torch
import torch.nn as nn


def train(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args["fp16"]:
        from apex import amp

        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def backward_loss(loss, total):
        if args["accumulate"] > 1:
            loss = loss / args["accumulate"]
        total += loss.item()
        if args["fp16"]:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return total

    total = 0.0
    for step, (x, y, tasks) in enumerate(loader):
        if "class" in tasks:
            loss = nn.functional.cross_entropy(model(x), y)
            total = backward_loss(loss, total)
        if "norm" in tasks:
            loss = model(x).pow(2).mean()
            total = backward_loss(loss, total)
        if (step + 1) % args["accumulate"] == 0:
            if args["fp16"]:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            else:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            model.zero_grad()
    return total


torch.manual_seed(11)
every = ({"class"}, {"class", "norm"}, set(), set(), {"norm"}, set(), set(), {"class"})
loader = [(torch.randn(4, 4).cuda(), torch.randint(0, 3, (4,)).cuda(), tasks) for tasks in every]
model = nn.Linear(4, 3).cuda()
print("%.5f" % train({"fp16": True, "accumulate": 2}, model, loader))
