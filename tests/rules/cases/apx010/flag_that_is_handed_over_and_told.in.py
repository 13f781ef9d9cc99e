import torch

try:
    from apex import amp
    USE_APEX = True
except ImportError:
    USE_APEX = False


def train(model, loader, optimizer, use_amp):
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()


def main(loader):
    model = torch.nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if USE_APEX:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, loader, optimizer, USE_APEX)
    print("mixed precision:", USE_APEX)
