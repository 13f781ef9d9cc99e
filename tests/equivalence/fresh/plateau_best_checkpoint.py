# expect: review: a checkpoint written by the legacy code holds Apex's state and will no

# bengali.ai grapheme: three heads, ReduceLROnPlateau on recall, reload of the best weights when the rate drops
import io
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau

try:
    from apex import amp
    USE_APEX = True
except ImportError:
    USE_APEX = False

N = (4, 3, 2)


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU(True), nn.AdaptiveMaxPool2d(1))
        self.drop = nn.Dropout(0.1)
        self.heads = nn.ModuleList([nn.Linear(8, n) for n in N])

    def forward(self, x):
        f = self.drop(self.features(x).flatten(1))
        return [h(f) for h in self.heads]


def criterion(outs, y):
    l = [F.cross_entropy(o, y[:, k]) for k, o in enumerate(outs)]
    return 0.7 * l[0] + 0.1 * l[1] + 0.2 * l[2]


def macro_recall(outs, y):
    scores = []
    for k, o in enumerate(outs):
        pred = o.argmax(1)
        r = [((pred == c) & (y[:, k] == c)).sum().item() / max((y[:, k] == c).sum().item(), 1) for c in range(N[k])]
        scores.append(sum(r) / len(r))
    return 0.5 * scores[0] + 0.25 * scores[1] + 0.25 * scores[2]


def save(f, model, optimizer, best):
    f.seek(0)
    f.truncate()
    d = {'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'best': best}
    if USE_APEX:
        d['amp'] = amp.state_dict()
    torch.save(d, f)


def restore(f, model, optimizer):
    f.seek(0)
    d = torch.load(f)
    lrs = [g['lr'] for g in optimizer.param_groups]
    model.load_state_dict(d['model'])
    optimizer.load_state_dict(d['optimizer'])
    for g, lr in zip(optimizer.param_groups, lrs):
        g['lr'] = lr
    if USE_APEX:
        amp.load_state_dict(d['amp'])
    return d['best']


def main():
    torch.manual_seed(2020)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    train = [(torch.rand(6, 1, 7, 7), torch.stack([torch.randint(0, n, (6,)) for n in N], 1)) for _ in range(3)]
    valid = train[0]
    model = MultiHead().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    if USE_APEX:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
    scheduler = ReduceLROnPlateau(optimizer, mode='max', factor=0.5, patience=0)
    best, f, history = -1, io.BytesIO(), []
    for epoch in range(4):
        model.train()
        running = 0.0
        for step, (x, y) in enumerate(train):
            x, y = x.to(device), y.to(device)
            loss = criterion(model(x), y)
            if epoch == 1 and step == 0:
                loss = loss * 1e37   # corrupted batch in the original data
            if USE_APEX:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            running += min(loss.item(), 100.0)
        model.eval()
        with torch.no_grad():
            recall = macro_recall(model(valid[0].to(device)), valid[1].to(device))
        old_lr = optimizer.param_groups[0]['lr']
        scheduler.step(recall)
        if recall > best:
            best = recall
            save(f, model, optimizer, best)
        elif optimizer.param_groups[0]['lr'] < old_lr:
            print('lr dropped, reloading best %.4f' % restore(f, model, optimizer))
        history.append([running, recall, optimizer.param_groups[0]['lr']])
    return history, list(model.state_dict().values())


if __name__ == "__main__":
    main()
