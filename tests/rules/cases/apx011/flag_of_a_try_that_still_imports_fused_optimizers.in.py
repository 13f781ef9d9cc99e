# rule: APX010
import torch
try:
    from apex import amp
    from apex.optimizers import FusedAdam
    HAS_APEX = True
except ImportError:
    HAS_APEX = False


def main(args, loader):
    model = build().cuda()
    optimizer = FusedAdam(model.parameters()) if HAS_APEX else torch.optim.Adam(model.parameters())
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
