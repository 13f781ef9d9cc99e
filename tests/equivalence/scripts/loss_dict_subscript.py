# expect: safe
# shape: the loss is an entry of a dict returned by the model, scale_loss on the subscript

import torch
import torch.nn as nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, batch):
        out = self.fc(batch["x"])
        return {"loss": nn.functional.cross_entropy(out, batch["y"]), "logits": out}


torch.manual_seed(63)
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
for i in range(5):
    batch = {"x": torch.randn(3, 4).cuda(), "y": torch.tensor([0, 1, 0]).cuda()}
    outputs = net(batch)
    optimizer.zero_grad()
    with amp.scale_loss(outputs["loss"], optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    acc = (outputs["logits"].argmax(1) == batch["y"]).float().mean()
    print("%d loss %.6f acc %.3f" % (i, outputs["loss"].item(), acc.item()))
