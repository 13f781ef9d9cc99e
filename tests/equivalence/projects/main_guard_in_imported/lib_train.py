import torch
from apex import amp


def do_train(model, optimizer, steps, use_amp=True):
    out = []
    for i in range(steps):
        loss = model(torch.randn(4, 3)).pow(2).sum()
        optimizer.zero_grad()
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


if __name__ == "__main__":
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    print(do_train(net, opt, 2))
    print(do_train(net, opt, 2, use_amp=False))
