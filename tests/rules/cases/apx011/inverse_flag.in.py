import torch
try:
    from apex import amp
    NO_APEX = False
except ImportError:
    NO_APEX = True


def main(args, loader):
    if NO_APEX:
        args.fp16 = False
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, enabled=args.fp16)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
