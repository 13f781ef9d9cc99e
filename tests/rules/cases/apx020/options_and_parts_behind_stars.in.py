import torch
from apex import amp

KIND = {"loss_scale": "dynamic", "verbosity": 0}


def main(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    parts = (model, optimizer)
    model, optimizer = amp.initialize(*parts, opt_level="O1", **KIND)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        pack = (loss, optimizer)
        with amp.scale_loss(*pack) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


main([])
