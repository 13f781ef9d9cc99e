import torch
import torch.nn.functional as F
from apex import amp


class FeatureLoss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x, y):
        return F.l1_loss(self.conv(x), self.conv(y))


def main(args, model, loader, valid):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    rec_fn = FeatureLoss().cuda()
    for image in loader:
        loss = rec_fn(image, model(image))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    total = 0
    for image in valid:
        with torch.no_grad():
            parts = model(image)
        names = sorted(parts)
        total += len(names)
        if args.crop:
            first = rec_fn(model.crop(image), parts["first"])
            second = rec_fn(image, parts["second"])
        else:
            first = rec_fn(image, parts["first"])
            second = rec_fn(F.interpolate(image, 8), parts["second"])
        total += first + second
    return total
