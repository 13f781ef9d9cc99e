# rule: APX010
import torch


def main(args, loader):
    use_amp = False
    if args.fp16:
        try:
            from apex import amp
            use_amp = True
        except ImportError:
            print("apex is missing, training in full precision")
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
