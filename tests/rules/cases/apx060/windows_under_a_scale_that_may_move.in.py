# expect: info where several backwards go into this step, the loss scale moves at another pace
import torch
from apex import amp


def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scale = "dynamic" if args.loss_scale == 0 else args.loss_scale
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=scale)
    for number, x in enumerate(loader):
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if (number + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main(get_args(), torch.nn.Linear(2, 2), torch.randn(3, 2))
