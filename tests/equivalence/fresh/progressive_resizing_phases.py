# expect: review: max_loss_scale=2.**17: GradScaler has no upper bound

# fast.ai-inspired ImageNet: a list of phases, each with size / batch / lr ramp
import torch, torch.nn as nn
import torch.nn.functional as F
import apex
from apex import amp

PHASES = [
    {'ep': 0, 'sz': 8, 'bs': 4},
    {'ep': (0, 1), 'lr': (0.02, 0.1)},
    {'ep': 1, 'sz': 12, 'bs': 2},
    {'ep': (1, 3), 'lr': (0.1, 0.01)},
]


class DataManager():
    def __init__(self, phases, n=8):
        g = torch.Generator().manual_seed(2)
        self.x = torch.randn(n, 3, 16, 16, generator=g)
        self.y = torch.randint(0, 3, (n,), generator=g)
        self.phases = {p['ep']: p for p in phases if 'bs' in p}
        self.trn_dl = None

    def set_epoch(self, epoch):
        if epoch in self.phases:
            ph = self.phases[epoch]
            x = F.interpolate(self.x, size=(ph['sz'], ph['sz']), mode='bilinear', align_corners=False)
            self.trn_dl = [(x[i:i + ph['bs']], self.y[i:i + ph['bs']]) for i in range(0, len(x), ph['bs'])]
            print(f"changing to size {ph['sz']} bs {ph['bs']}")


class Scheduler():
    def __init__(self, optimizer, phases):
        self.optimizer = optimizer
        self.phases = [p for p in phases if 'lr' in p]
        self.tot_epochs = max(max(p['ep']) for p in self.phases)

    def get_lr(self, epoch, batch_num, batch_tot):
        for p in self.phases:
            s, e = p['ep']
            if s <= epoch < e:
                perc = (epoch - s + batch_num / batch_tot) / (e - s)
                return p['lr'][0] + (p['lr'][1] - p['lr'][0]) * perc
        raise Exception('Epoch out of range')

    def update_lr(self, epoch, batch_num, batch_tot):
        lr = self.get_lr(epoch, batch_num, batch_tot)
        for group in self.optimizer.param_groups:
            group['lr'] = lr
        return lr


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        return self.fc(F.adaptive_avg_pool2d(x, 1).squeeze(-1).squeeze(-1))


def train(trn_loader, model, criterion, optimizer, scheduler, epoch, fp16):
    model.train()
    out = []
    for i, (input, target) in enumerate(trn_loader):
        lr = scheduler.update_lr(epoch, i, len(trn_loader))
        output = model(input)
        loss = criterion(output, target)
        if epoch == 1 and i == 1:
            loss = loss * 3e38
        reduced_loss = loss.data
        optimizer.zero_grad()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        if torch.isfinite(reduced_loss):
            out.append([float(reduced_loss), lr])
    return out


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fp16 = True
    model = Net().to(device)
    # no weight decay on bn and biases
    decay = [p for p in model.parameters() if p.dim() > 1]
    nodecay = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.SGD([{'params': decay, 'weight_decay': 5e-4}, {'params': nodecay, 'weight_decay': 0}], 0, momentum=0.9)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic", max_loss_scale=2.**17)
    dm = DataManager(PHASES)
    scheduler = Scheduler(optimizer, PHASES)
    log = []
    for epoch in range(scheduler.tot_epochs):
        dm.set_epoch(epoch)
        log += train([(a.to(device), b.to(device)) for a, b in dm.trn_dl], model, nn.CrossEntropyLoss(), optimizer, scheduler, epoch, fp16)
    return log, list(model.state_dict().values())


if __name__ == "__main__":
    main()
