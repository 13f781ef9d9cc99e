# expect: review: the norm of gradients is used after every backward, while the step is 

import os, random
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader, Subset
from apex import amp

class CFG:
    seed = 777
    n_fold = 3
    trn_fold = [0, 1, 2]
    epochs = 2
    lr = 1e-2
    apex = True
    max_grad_norm = 1000
    gradient_accumulation_steps = 1
    target_size = 3

def seed_torch(seed=42):
    random.seed(seed); os.environ['PYTHONHASHSEED'] = str(seed)
    np.random.seed(seed); torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True

class TrainDataset(Dataset):
    def __init__(self, n=18):
        g = torch.Generator().manual_seed(5)
        self.x = torch.randn(n, 3, 6, 6, generator=g)
        self.y = torch.randint(0, CFG.target_size, (n,), generator=g)
    def __len__(self): return len(self.y)
    def __getitem__(self, i): return self.x[i], self.y[i]

class CustomResNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)
        self.fc = nn.Linear(6, CFG.target_size)
    def forward(self, x):
        return self.fc(self.conv(x).relu().mean((2, 3)))

def train_fn(train_loader, model, criterion, optimizer, epoch, scheduler, device):
    model.train()
    tot = 0
    for step, (images, labels) in enumerate(train_loader):
        images = images.to(device); labels = labels.to(device)
        y_preds = model(images)
        loss = criterion(y_preds, labels)
        if CFG.gradient_accumulation_steps > 1:
            loss = loss / CFG.gradient_accumulation_steps
        tot += loss.item()
        if CFG.apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), CFG.max_grad_norm)
        if (step + 1) % CFG.gradient_accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        if step % 2 == 0:
            print('Epoch: [{0}][{1}] Loss: {2:.4f} Grad: {3:.4f}'.format(epoch+1, step, loss.item(), grad_norm))
    return tot / len(train_loader)

def valid_fn(valid_loader, model, criterion, device):
    model.eval()
    preds, tot = [], 0
    for images, labels in valid_loader:
        with torch.no_grad():
            y_preds = model(images.to(device))
        tot += criterion(y_preds, labels.to(device)).item()
        preds.append(y_preds.softmax(1).to('cpu').numpy())
    return tot / len(valid_loader), np.concatenate(preds)

def train_loop(ds, fold):
    idx = np.arange(len(ds))
    trn_idx, val_idx = idx[idx % CFG.n_fold != fold], idx[idx % CFG.n_fold == fold]
    train_loader = DataLoader(Subset(ds, trn_idx), batch_size=4, shuffle=True, drop_last=True)
    valid_loader = DataLoader(Subset(ds, val_idx), batch_size=4, shuffle=False)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = CustomResNext()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=CFG.lr, weight_decay=1e-6, amsgrad=False)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    if CFG.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
    criterion = nn.CrossEntropyLoss()
    best_loss, best_preds = np.inf, None
    for epoch in range(CFG.epochs):
        avg_loss = train_fn(train_loader, model, criterion, optimizer, epoch, scheduler, device)
        avg_val_loss, preds = valid_fn(valid_loader, model, criterion, device)
        scheduler.step()
        if avg_val_loss < best_loss:
            best_loss, best_preds = avg_val_loss, preds
        print(f'Epoch {epoch+1} - avg_train_loss: {avg_loss:.4f}  avg_val_loss: {avg_val_loss:.4f}')
    return best_loss, torch.from_numpy(best_preds)

def main():
    seed_torch(seed=CFG.seed)
    ds = TrainDataset()
    oof = []
    for fold in range(CFG.n_fold):
        if fold in CFG.trn_fold:
            oof.append(train_loop(ds, fold))
    return oof

if __name__ == '__main__':
    main()
