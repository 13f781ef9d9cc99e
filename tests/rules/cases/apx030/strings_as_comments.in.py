# expect: info this may be left out (`args.fp16`), and the step is taken al
import torch
from apex import amp


def main(args, model, loader):
    """
    Trains.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
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
            with amp.scale_loss(loss, optimizer) as scaled:
                '''What the loss
                is scaled by.'''
                scaled.backward()
            print(text)
        optimizer.step()
