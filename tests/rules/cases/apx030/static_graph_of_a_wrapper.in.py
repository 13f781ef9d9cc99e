import torch
from apex import amp


def train(config, net, loader, criterion):
    model = net.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    model = torch.nn.parallel.DistributedDataParallel(model)
    model._set_static_graph()
    print(len(config["parameters"](model)))
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
