import torch


def train(config, net, loader, criterion):
    model = net.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    model = torch.nn.parallel.DistributedDataParallel(model)
    model._set_static_graph()
    print(len(config["parameters"](model)))
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
