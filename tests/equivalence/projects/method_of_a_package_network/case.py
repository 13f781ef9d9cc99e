# expect: safe

import torch
from apex import amp
from models import build_model


def main():
    torch.manual_seed(0)
    model = build_model({"dim": 4})
    teacher = build_model({"dim": 4})
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    h = []
    for i in range(4):
        x = torch.randn(8, 5)
        with torch.no_grad():
            t = teacher.embed(x)
        loss = (model.embed(x) - t).pow(2).mean()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        opt.step()
        h.append(loss.item())
    with torch.no_grad():
        h.append(model.embed(torch.ones(1, 5)).float())
        h.append(teacher.embed(torch.ones(1, 5)).float())
    return [h, list(model.parameters())]

if __name__ == "__main__":
    print(main())
