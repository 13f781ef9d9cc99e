# expect: review: results leave autocast in float16; Apex handed them on in float32 (its

import torch
from torch import nn
from torch.optim import Adam
from apex import amp

# two stage fine-tuning, as in many Kaggle kernels (head first, then everything)

DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def get_model(pretrained_seed=0):
    torch.manual_seed(pretrained_seed)
    net = nn.Sequential()
    net.add_module('features', nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()))
    net.add_module('last_linear', nn.Linear(32, 1))
    return net.to(DEVICE)


def set_requires_grad(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def quadratic_kappa(preds, target):
    p, t = preds.round().clamp(0, 4), target
    return float(((p - t) ** 2).mean())


def run_epoch(model, loader, criterion, optimizer, accumulation_steps=1, poison=None):
    model.train()
    avg_loss = 0.
    optimizer.zero_grad()
    for idx, (imgs, labels) in enumerate(loader):
        imgs_train, labels_train = imgs.to(DEVICE), labels.float().to(DEVICE)
        output_train = model(imgs_train)
        loss = criterion(output_train, labels_train)
        avg_loss += loss.item() / len(loader)
        if idx == poison:
            loss = loss * 1e38
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if (idx + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    return avg_loss


@torch.no_grad()
def test_model(model, loader, criterion):
    model.eval()
    avg_val_loss, kappas = 0., []
    for imgs, labels in loader:
        out = model(imgs.to(DEVICE))
        avg_val_loss += criterion(out, labels.float().to(DEVICE)).item() / len(loader)
        kappas.append(quadratic_kappa(out.cpu(), labels))
    return avg_val_loss, kappas


def main():
    model = get_model()
    torch.manual_seed(5)
    loader = [(torch.randn(4, 3, 9, 9), torch.randint(0, 5, (4, 1))) for _ in range(3)]
    criterion = nn.MSELoss()
    set_requires_grad(model.features, False)
    optimizer = Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=5e-2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    history = []
    # stage 1
    for epoch in range(1):
        history.append(run_epoch(model, loader, criterion, optimizer))
        history.append(test_model(model, loader, criterion))
    # stage 2
    set_requires_grad(model.features, True)
    optimizer.add_param_group({'params': model.features.parameters(), 'lr': 1e-3})
    for epoch in range(2):
        history.append(run_epoch(model, loader, criterion, optimizer, poison=1 if epoch == 0 else None))
        history.append(test_model(model, loader, criterion))
        print(f'Epoch {epoch + 1} \t loss={history[-2]:.4f} \t val_loss={history[-1][0]:.4f}')
    return history, list(model.parameters())


if __name__ == "__main__":
    main()
