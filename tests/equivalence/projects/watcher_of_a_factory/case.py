# expect: safe

import torch
from apex import amp
from solver import build_optimizer, build_scheduler
from net import Net


def main():
    torch.manual_seed(0)
    model = Net()
    opt = build_optimizer(model)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    sched = build_scheduler(opt, model)
    h = []
    for i in range(6):
        loss = model(torch.randn(8, 5)).pow(2).mean()
        if i == 2:
            loss = loss * 1e36
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        sched.watch()
        opt.step()
        sched.after()
        h.append(opt.param_groups[0]["lr"])
    return [h, sched.norms, list(model.parameters())]

if __name__ == "__main__":
    print(main())
