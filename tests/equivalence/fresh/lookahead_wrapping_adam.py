# expect: safe

"""Lookahead on top of Adam, as passed around in many competition kernels: the wrapper is built after amp.initialize of the inner one."""
from collections import defaultdict

import torch
from torch import nn
from apex import amp


class Lookahead:
    def __init__(self, base_optimizer, alpha=0.5, k=3):
        self.optimizer = base_optimizer
        self.param_groups = base_optimizer.param_groups
        self.alpha, self.k = alpha, k
        self.counter = 0
        self.slow = defaultdict(dict)
        for gi, group in enumerate(self.param_groups):
            for pi, p in enumerate(group["params"]):
                self.slow[gi][pi] = p.data.clone()

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        loss = self.optimizer.step()
        self.counter += 1
        if self.counter % self.k == 0:
            for gi, group in enumerate(self.param_groups):
                for pi, p in enumerate(group["params"]):
                    slow = self.slow[gi][pi]
                    slow += self.alpha * (p.data - slow)
                    p.data.copy_(slow)
        return loss


class ToxicNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(60, 8)
        self.embedding_dropout = nn.Dropout2d(0.0)
        self.linear1 = nn.Linear(16, 16)
        self.linear_out = nn.Linear(16, 1)
        self.linear_aux_out = nn.Linear(16, 3)

    def forward(self, x):
        h = self.embedding(x)
        h = torch.cat((h.mean(1), h.max(1)[0]), 1)
        hidden = h + torch.relu(self.linear1(h))
        return torch.cat([self.linear_out(hidden), self.linear_aux_out(hidden)], 1)


def custom_loss(data, targets, weights):
    bce_loss_1 = nn.BCEWithLogitsLoss(weight=weights[:, None])(data[:, :1], targets[:, :1])
    bce_loss_2 = nn.BCEWithLogitsLoss()(data[:, 1:], targets[:, 1:])
    return (bce_loss_1 * 3.2) + bce_loss_2


def main():
    torch.manual_seed(1234)
    X = torch.randint(0, 60, (7, 8, 6))
    Y = (torch.rand(7, 8, 4) > 0.5).float()
    W = torch.rand(7, 8) + 0.5
    W[4] = 2e38
    model = ToxicNet()
    adam = torch.optim.Adam(model.parameters(), lr=2e-2)
    model, adam = amp.initialize(model, adam, opt_level="O1", verbosity=0)
    optimizer = Lookahead(adam, k=2)
    scheduler = torch.optim.lr_scheduler.LambdaLR(adam, lambda e: 0.9 ** e)
    all_test_preds, losses = [], []
    for i, (x, y, w) in enumerate(zip(X, Y, W)):
        y_pred = model(x)
        loss = custom_loss(y_pred, y, w)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer.optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        scheduler.step()
        if loss.item() < 1e6:
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            all_test_preds.append(torch.sigmoid(model(X[0])[:, 0]))
        model.train()
    return losses, torch.stack(all_test_preds).mean(0), list(model.parameters()), [optimizer.slow[0][i] for i in range(3)]


if __name__ == "__main__":
    main()
