import torch
import torch.nn.functional as F


class FeatureLoss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x, y):
        return F.l1_loss(self.conv(x), self.conv(y))


def main(args, model, loader, valid):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    rec_fn = FeatureLoss().cuda()
    for image in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = rec_fn(image, model(image))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    total = 0
    for image in valid:
        with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
            parts = model(image)
        names = sorted(parts)
        total += len(names)
        with torch.autocast("cuda", dtype=torch.float16):
            if args.crop:
                first = rec_fn(model.crop(image), parts["first"])
                second = rec_fn(image, parts["second"])
            else:
                first = rec_fn(image, parts["first"])
                second = rec_fn(F.interpolate(image, 8), parts["second"])
        total += first + second
    return total
