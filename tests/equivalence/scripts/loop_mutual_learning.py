# expect: safe
# shape: networks that learn from each other, initialized in a loop, each round with a backward and a step of its own

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Mutual:
    def __init__(self, count=2, use_apex=True):
        self.count, self.use_apex = count, use_apex
        self.models, self.optimizers = [], []
        for i in range(self.count):
            model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).cuda()
            self.models.append(model)
            self.optimizers.append(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
        if self.use_apex:
            for i in range(self.count):
                self.models[i], self.optimizers[i] = amp.initialize(self.models[i], self.optimizers[i], opt_level="O1")

    def epoch(self, loader):
        for x, y in loader:
            outputs = [model(x) for model in self.models]
            for i in range(self.count):
                loss = F.cross_entropy(outputs[i], y)
                for j in range(self.count):
                    if i != j:
                        other = torch.softmax(outputs[j].detach(), dim=1)
                        loss = loss + F.kl_div(torch.log_softmax(outputs[i], dim=1), other, reduction="batchmean")
                self.optimizers[i].zero_grad()
                if self.use_apex:
                    with amp.scale_loss(loss, self.optimizers[i]) as scaled_loss:
                        scaled_loss.backward()
                else:
                    loss.backward()
                self.optimizers[i].step()
                print(round(loss.item(), 4))

    def validate(self, loader):
        for model in self.models:
            model.eval()
            with torch.no_grad():
                print(sum((model(x).argmax(1) == y).sum().item() for x, y in loader))
            model.train()


def main():
    torch.manual_seed(1)
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(4)]
    data[2] = (data[2][0] * 1e36, data[2][1])
    mutual = Mutual()
    for _ in range(2):
        mutual.epoch(data)
        mutual.validate(data[:2])
    for model in mutual.models:
        print(model[2].weight)


main()
