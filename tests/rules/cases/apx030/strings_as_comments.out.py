import torch


def main(args, model, loader):
    """
    Trains.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    pending = False
    for x, y in loader:
        optimizer.zero_grad()
        pending = False
        with torch.autocast("cuda", dtype=torch.float16):
            out = model(x)
            """
            for param in model.parameters():
                param.requires_grad = True
            """
            loss = torch.nn.functional.l1_loss(out, y)
        if args.fp16:
            """
            Scaled
              for half.
            """
            text = """
            kept
            """
            '''What the loss
            is scaled by.'''
            scaler.scale(loss).backward()
            pending = True
            print(text)
        if pending:
            scaler.step(optimizer)
            scaler.update()
            pending = False
        else:
            optimizer.step()
