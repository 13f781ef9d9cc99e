# expect: safe

import math
from copy import deepcopy
import torch
import torch.nn as nn
import torch.nn.functional as F

mixed_precision = True
try:  # Mixed precision training https://github.com/NVIDIA/apex
    from apex import amp
except:
    print('Apex recommended for faster mixed precision training: https://github.com/NVIDIA/apex')
    mixed_precision = False  # not installed

hyp = {'lr0': 0.01, 'momentum': 0.937, 'weight_decay': 5e-4, 'giou': 0.05, 'obj': 1.0, 'cls': 0.58}


class ModelEMA:
    def __init__(self, model, decay=0.9999, updates=0):
        self.ema = deepcopy(model.module if hasattr(model, 'module') else model).eval()
        self.updates = updates
        self.decay = lambda x: decay * (1 - math.exp(-x / 2))
        for p in self.ema.parameters():
            p.requires_grad_(False)

    def update(self, model):
        with torch.no_grad():
            self.updates += 1
            d = self.decay(self.updates)
            msd = model.state_dict()
            for k, v in self.ema.state_dict().items():
                if v.dtype.is_floating_point:
                    v *= d
                    v += (1. - d) * msd[k].detach()


class Model(nn.Module):
    def __init__(self, nc=2):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8)
        self.detect = nn.Conv2d(8, 5 + nc, 1)

    def forward(self, x):
        return self.detect(F.leaky_relu(self.bn1(self.conv1(x)), 0.1)).permute(0, 2, 3, 1)


def compute_loss(p, targets):
    lbox = (1.0 - F.cosine_similarity(p[..., :4], targets[..., :4], dim=-1)).mean() * hyp['giou']
    lobj = F.binary_cross_entropy_with_logits(p[..., 4], targets[..., 4]) * hyp['obj']
    lcls = F.binary_cross_entropy_with_logits(p[..., 5:], targets[..., 5:]) * hyp['cls']
    loss = lbox + lobj + lcls
    return loss * p.shape[0], torch.stack((lbox, lobj, lcls, loss)).detach()


def train(epochs=2, batch_size=2, nbs=4):
    torch.manual_seed(3)
    device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
    if device.type == 'cpu' and not mixed_precision:
        print('fp32')
    accumulate = max(round(nbs / batch_size), 1)
    hyp['weight_decay'] = 5e-4 * batch_size * accumulate / nbs
    dataset = [(torch.randn(batch_size, 3, 8, 8), torch.rand(batch_size, 4, 4, 7).round()) for _ in range(4)]
    model = Model().to(device)
    pg0, pg1, pg2 = [], [], []
    for k, v in model.named_parameters():
        if '.bias' in k:
            pg2 += [v]
        elif '.weight' in k and '.bn' not in k:
            pg1 += [v]
        else:
            pg0 += [v]
    optimizer = torch.optim.SGD(pg0 or [torch.zeros(1, requires_grad=True)], lr=hyp['lr0'], momentum=hyp['momentum'], nesterov=True)
    optimizer.add_param_group({'params': pg1, 'weight_decay': hyp['weight_decay']})
    optimizer.add_param_group({'params': pg2})
    del pg0, pg1, pg2

    if mixed_precision:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)

    lf = lambda x: (((1 + math.cos(x * math.pi / epochs)) / 2) ** 1.0) * 0.9 + 0.1
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lf)
    ema = ModelEMA(model)
    nb = len(dataset)
    n_burn = 3
    mloss = torch.zeros(4)
    optimizer.zero_grad()
    for epoch in range(epochs):
        model.train()
        mloss = torch.zeros(4, device=device)
        for i, (imgs, targets) in enumerate(dataset):
            ni = i + nb * epoch
            imgs = imgs.to(device, non_blocking=True).float() / 1.0
            if ni <= n_burn:
                for j, x in enumerate(optimizer.param_groups):
                    x['lr'] = hyp['lr0'] * (ni + 1) / (n_burn + 1) * lf(epoch)
            pred = model(imgs)
            loss, loss_items = compute_loss(pred, targets.to(device))
            if ni == 5:
                loss = loss * 1e38
            if not torch.isfinite(loss):
                print('WARNING: non-finite loss, ending training ', loss_items)
                return mloss
            # Backward
            if mixed_precision:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            # Optimize
            if ni % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
                ema.update(model)
            mloss = (mloss * i + loss_items) / (i + 1)
        scheduler.step()
    return mloss, ema.ema.state_dict(), model.state_dict(), optimizer.param_groups[0]['lr']


def main():
    return train()


if __name__ == "__main__":
    main()
