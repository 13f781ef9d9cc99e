# expect: safe

# RetinaNet training: enabled= flag, DataParallel after initialize, nan guard with `continue`
import collections
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

params = dict(fp16=True, multi_gpu=False, lr=1e-2, clip=0.1, epochs=2, num_classes=3, anchors=2)


class RetinaNet(nn.Module):
    def __init__(self, num_classes, anchors):
        super().__init__()
        self.c3 = nn.Conv2d(3, 8, 3, 2, 1)
        self.p4 = nn.Conv2d(8, 8, 3, 2, 1)
        self.cls = nn.Conv2d(8, num_classes * anchors, 3, padding=1)
        self.reg = nn.Conv2d(8, 4 * anchors, 3, padding=1)
        self.nc = num_classes
        nn.init.constant_(self.cls.bias, -2.0)

    def freeze_bn(self):
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.eval()

    def forward(self, inputs):
        img, annots = inputs if self.training else (inputs, None)
        p3 = F.relu(self.c3(img))
        feats = [p3, F.relu(self.p4(p3))]
        b = img.shape[0]
        cls = torch.cat([self.cls(f).permute(0, 2, 3, 1).reshape(b, -1, self.nc) for f in feats], 1).sigmoid()
        reg = torch.cat([self.reg(f).permute(0, 2, 3, 1).reshape(b, -1, 4) for f in feats], 1)
        if not self.training:
            return cls.max(-1)[0], reg
        return self.focal(cls, reg, annots)

    def focal(self, cls, reg, annots, alpha=0.25, gamma=2.0):
        c_losses, r_losses = [], []
        for j in range(cls.shape[0]):
            c = cls[j].clamp(1e-4, 1.0 - 1e-4)
            t = torch.zeros_like(c)
            pos = annots[j, :, 0].long()
            pos = pos[pos >= 0]
            if pos.numel() == 0:
                c_losses.append((-(1 - alpha) * c ** gamma * torch.log(1 - c)).sum())
                r_losses.append(torch.tensor(0.).to(c.device))
                continue
            t[pos, 0] = 1.
            w = torch.where(t.eq(1.), alpha * (1 - c) ** gamma, (1 - alpha) * c ** gamma)
            bce = -(t * torch.log(c) + (1.0 - t) * torch.log(1.0 - c))
            c_losses.append((w * bce).sum() / pos.numel())
            r_losses.append(F.smooth_l1_loss(reg[j, pos], annots[j, :pos.numel(), 1:]))
        return torch.stack(c_losses).mean(dim=0, keepdim=True), torch.stack(r_losses).mean(dim=0, keepdim=True)


def main(p=params):
    torch.manual_seed(99)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    retinanet = RetinaNet(p['num_classes'], p['anchors']).to(device)
    optimizer = torch.optim.Adam(retinanet.parameters(), lr=p['lr'])
    retinanet, optimizer = amp.initialize(retinanet, optimizer, enabled=p['fp16'], opt_level='O1')
    retinanet = torch.nn.DataParallel(retinanet) if p['multi_gpu'] else retinanet
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    batches = []
    for k in range(4):
        annots = torch.rand(2, 2, 5)
        annots[..., 0] = torch.randint(0, 30, (2, 2)).float()
        if k == 1:
            annots[0, :, 0] = -1
        batches.append({'img': torch.randn(2, 3, 8, 8) * (float('nan') if k == 2 else 1.), 'annot': annots})
    loss_hist = collections.deque(maxlen=500)
    for epoch_num in range(p['epochs']):
        retinanet.train()
        (retinanet.module if hasattr(retinanet, 'module') else retinanet).freeze_bn()
        epoch_loss = []
        for iter_num, data in enumerate(batches):
            optimizer.zero_grad()
            classification_loss, regression_loss = retinanet([data['img'].to(device), data['annot'].to(device)])
            classification_loss = classification_loss.mean()
            regression_loss = regression_loss.mean()
            loss = classification_loss + regression_loss
            if bool(loss == 0) or not torch.isfinite(loss):
                print('skip', iter_num)
                continue
            if epoch_num == 1 and iter_num == 0:
                loss = loss * 1e37
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(retinanet.parameters(), p['clip'])
            optimizer.step()
            loss_hist.append(float(classification_loss))
            epoch_loss.append(float(classification_loss))
            del classification_loss
            del regression_loss
        scheduler.step(sum(epoch_loss) / len(epoch_loss))
    retinanet.eval()
    with torch.no_grad():
        scores, boxes = retinanet(batches[0]['img'].to(device))
    return list(loss_hist), scores, boxes


if __name__ == "__main__":
    main()
