# expect: review max_loss_scale
# expect: review loss_scale
# expect: review O2 kept
import torch
from apex import amp


def main(half, dynamic):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    # Mixed precision
    level = "O2" if half else "O0"
    scale = "dynamic" if dynamic else "128.0"
    model, optimizer = amp.initialize(model, optimizer, opt_level=level, loss_scale=scale, max_loss_scale=1024.0)
    train(model, optimizer)


def train(model, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


main(args.half, args.dynamic)
