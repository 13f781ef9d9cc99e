# expect: review

import torch
import torch.nn as nn

try:
    from apex import amp
    has_apex = True
except ImportError:
    has_apex = False

from cuda_utils import ApexScaler


def train_one_epoch(model, loader, optimizer, loss_fn, loss_scaler=None, clip_grad=None):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        output = model(x)
        loss = loss_fn(output, y)
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=clip_grad, parameters=model.parameters())
        else:
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    use_amp = "apex" if has_apex else None
    loss_scaler = None
    if use_amp == "apex":
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    loader = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(3)]
    out = [train_one_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), loss_scaler, 1.0) for _ in range(2)]
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
