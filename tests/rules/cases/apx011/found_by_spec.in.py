import importlib.util
import torch
HAS_APEX = importlib.util.find_spec("apex") is not None
if HAS_APEX:
    from apex import amp


def main(args, loader):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if HAS_APEX and args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if HAS_APEX and args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
