# expect: safe
# shape: the loss is returned by another function of the file which runs the model

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def compute_loss(model, batch):
    x, y = batch
    x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
    logits = model(x)
    return F.cross_entropy(logits, y), logits.shape[0]


def main():
    torch.manual_seed(67)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(6)]
    seen = 0
    for i, batch in enumerate(data):
        loss, n = compute_loss(model, batch)
        if i == 4:
            loss = loss * float("inf")
        seen += n
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(seen, loss.item())


main()
