import torch
import torch.nn.functional as F
from apex import amp


def train(model, optimizer, loader, args):
    for images, targets, attributes in loader:
        outputs, found = model(images)
        loss = F.cross_entropy(outputs, targets)
        if args.attributes:
            loss = loss + F.cross_entropy(found, attributes)
            optimizer.zero_grad()
            if args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main(model, loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, loader, args)
