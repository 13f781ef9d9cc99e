# expect: review: several optimizers share this loss: on overflow Apex left out all thei

# insightface-ish: backbone + margin head, one optimizer each
import math
import torch
import torch.nn.functional as F
from torch import nn

try:
    from apex import amp
    APEX = True
except ImportError:
    APEX = False


class edict(dict):
    def __getattr__(self, k):
        return self[k]

    def __setattr__(self, k, v):
        self[k] = v


config = edict(embedding_size=8, fp16=True, momentum=0.9, weight_decay=5e-4, lr=0.1, num_classes=5, max_norm=5, s=16.0, m=0.3)


class IResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.prelu = nn.Conv2d(3, 6, 3, 2, 1, bias=False), nn.BatchNorm2d(6), nn.PReLU(6)
        self.fc = nn.Linear(6 * 16, config.embedding_size)
        self.features = nn.BatchNorm1d(config.embedding_size)

    def forward(self, x):
        x = self.prelu(self.bn(self.conv(x)))
        return self.features(self.fc(torch.flatten(x, 1)))


class ArcFace(nn.Module):
    def __init__(self, in_features, out_features, s, m):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.s, self.cos_m, self.sin_m = s, math.cos(m), math.sin(m)
        self.th, self.mm = math.cos(math.pi - m), math.sin(math.pi - m) * m

    def forward(self, x, label):
        cosine = F.linear(F.normalize(x), F.normalize(self.weight)).float()
        sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(0, 1) + 1e-7)
        phi = cosine * self.cos_m - sine * self.sin_m
        phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        one_hot = torch.zeros_like(cosine).scatter_(1, label.view(-1, 1), 1)
        return ((one_hot * phi) + ((1.0 - one_hot) * cosine)) * self.s


class AverageMeter(object):
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def main():
    torch.manual_seed(8)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    backbone = IResNet().to(device).train()
    header = ArcFace(config.embedding_size, config.num_classes, config.s, config.m).to(device).train()
    opt_backbone = torch.optim.SGD([{'params': backbone.parameters()}], lr=config.lr, momentum=config.momentum, weight_decay=config.weight_decay)
    opt_header = torch.optim.SGD([{'params': header.parameters()}], lr=config.lr, momentum=config.momentum, weight_decay=config.weight_decay)
    fp16 = config.fp16 and APEX
    if fp16:
        [backbone, header], [opt_backbone, opt_header] = amp.initialize([backbone, header], [opt_backbone, opt_header], opt_level='O1')
    scheduler_backbone = torch.optim.lr_scheduler.LambdaLR(opt_backbone, lr_lambda=lambda e: 0.5 ** e)
    scheduler_header = torch.optim.lr_scheduler.LambdaLR(opt_header, lr_lambda=lambda e: 0.5 ** e)
    criterion = nn.CrossEntropyLoss()
    data = [(torch.randn(5, 3, 8, 8), torch.randint(0, 5, (5,))) for _ in range(3)]
    loss_meter, record, global_step = AverageMeter(), [], 0
    for epoch in range(2):
        for img, label in data:
            global_step += 1
            img, label = img.to(device), label.to(device)
            features = backbone(img)
            thetas = header(features, label)
            loss_v = criterion(thetas, label)
            if global_step == 3:
                loss_v = loss_v * 1e37
            if fp16:
                with amp.scale_loss(loss_v, [opt_backbone, opt_header]) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss_v.backward()
            torch.nn.utils.clip_grad_norm_(backbone.parameters(), max_norm=config.max_norm, norm_type=2)
            opt_backbone.step()
            opt_header.step()
            opt_backbone.zero_grad()
            opt_header.zero_grad()
            loss_meter.update(loss_v.item() if global_step != 3 else 0.0, 1)
            record.append(loss_meter.avg)
        scheduler_backbone.step()
        scheduler_header.step()
        print('epoch %d loss %.4f' % (epoch, loss_meter.avg))
    return record, list(backbone.state_dict().values()), header.weight


if __name__ == "__main__":
    main()
