import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

def pretrain(model, data, epochs=1):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


if __name__ == "__main__":
    print(pretrain(nn.Linear(5, 3), [(torch.randn(4, 5), torch.randint(0, 3, (4,)))]))
