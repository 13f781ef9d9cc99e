# expect: safe

import copy
import os
import tempfile
import numpy as np
import torch
from torch import nn
from apex import amp


class ModelEMA:
    def __init__(self, model, decay=0.9):
        self.module = copy.deepcopy(model)
        self.module.eval()
        self.decay = decay

    def update(self, model):
        with torch.no_grad():
            for ema_v, model_v in zip(self.module.state_dict().values(), model.state_dict().values()):
                if ema_v.dtype.is_floating_point:
                    ema_v.copy_(ema_v * self.decay + (1. - self.decay) * model_v)
                else:
                    ema_v.copy_(model_v)


class EarlyStopping:
    """Early stops the training if validation loss doesn't improve after a given patience."""

    def __init__(self, patience=7, delta=0, path='checkpoint.pt', trace_func=print):
        self.patience, self.delta, self.path, self.trace_func = patience, delta, path, trace_func
        self.counter = 0
        self.best_score = None
        self.early_stop = False
        self.val_loss_min = np.inf

    def __call__(self, val_loss, model):
        score = -val_loss
        if self.best_score is None:
            self.best_score = score
            self.save_checkpoint(val_loss, model)
        elif score < self.best_score + self.delta:
            self.counter += 1
            self.trace_func(f'EarlyStopping counter: {self.counter} out of {self.patience}')
            if self.counter >= self.patience:
                self.early_stop = True
        else:
            self.best_score = score
            self.save_checkpoint(val_loss, model)
            self.counter = 0

    def save_checkpoint(self, val_loss, model):
        torch.save(model.state_dict(), self.path)
        self.val_loss_min = val_loss


def validate(model, loader, criterion):
    was_training = model.training
    model.eval()
    tot, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            tot += criterion(model(x), y).item() * len(x)
            n += len(x)
    if was_training:
        model.train()
    return tot / n


def main():
    torch.manual_seed(21)
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    n_epochs = 8
    model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.1), nn.Linear(16, 2)).to(device)
    ema = ModelEMA(model)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.03)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    criterion = nn.MSELoss()
    train = [(torch.randn(4, 4).to(device), torch.randn(4, 2).to(device)) for _ in range(4)]
    val = [(torch.randn(6, 4).to(device), torch.randn(6, 2).to(device))]
    tmp = tempfile.mkdtemp()
    stopper = EarlyStopping(patience=2, path=os.path.join(tmp, "best.pt"))
    curve = []
    for epoch in range(n_epochs):
        for i, (x, y) in enumerate(train):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            if epoch == 0 and i == 1:
                loss = loss * 1e35
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            ema.update(model)
        v_ema = validate(ema.module, val, criterion)
        v = validate(model, val, criterion)
        curve.append((v_ema, v))
        stopper(v, model)
        if stopper.early_stop:
            print("Early stopping")
            break
    model.load_state_dict(torch.load(stopper.path))
    return curve, epoch, validate(model, val, criterion), list(ema.module.state_dict().values())


if __name__ == "__main__":
    main()
