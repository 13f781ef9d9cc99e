# expect: safe
# shape: the names scaler and self.scaler belong to a StandardScaler already

import torch
import torch.nn as nn
from apex import amp


class StandardScaler:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def transform(self, data):
        return (data - self.mean) / self.std

    def inverse_transform(self, data):
        return data * self.std + self.mean


def main():
    torch.manual_seed(113)
    raw = torch.randn(20, 4) * 3 + 7
    scaler = StandardScaler(raw.mean(), raw.std())
    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for i in range(5):
        x = scaler.transform(raw[i * 4:i * 4 + 4]).cuda()
        pred = scaler.inverse_transform(model(x))
        loss = nn.functional.l1_loss(pred, raw[i * 4:i * 4 + 4].cuda())
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(i, "%.6f" % loss.item(), "%.4f" % scaler.std.item())


main()
