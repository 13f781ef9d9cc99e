# expect: safe

import torch
from apex import amp
from infer import Generator
from net import Net


def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    generator = Generator([model])
    history = []
    for _ in range(4):
        x = torch.randn(4, 4)
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        opt.step()
        history.append([loss.item(), generator.generate(x)])
    return [history, list(model.parameters())]


if __name__ == "__main__":
    print(main())
