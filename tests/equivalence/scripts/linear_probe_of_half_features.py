# expect: review: sigmoid of other files is not known
# shape: a class trains a head on features of the encoder, which runs under no_grad
# casts: real

import torch
import torch.nn as nn
from apex import amp

amp.register_float_function(torch, 'sigmoid')


class LinearProbe:
    def __init__(self, encoder, inputs, outputs):
        self.encoder, self.head = encoder, nn.Linear(inputs, outputs).cuda()
        self.criterion = nn.BCELoss()
        self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.5)

    def fit(self, data):
        found = []
        self.encoder.eval()
        for x in data:
            with torch.no_grad():
                features = self.encoder(x)
            p = torch.sigmoid(self.head(features))
            loss = self.criterion(p, (x[:, :2] > 0).float())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            found.append("%.2f" % loss.item())
        return found


torch.manual_seed(103)
encoder = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)).cuda()
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
encoder, optimizer = amp.initialize(encoder, optimizer, opt_level='O1')
data = [torch.randn(6, 6).cuda() for _ in range(4)]
for x in data:
    loss = (encoder(x) - x[:, :4]).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("%.4f" % loss.item())
print(LinearProbe(encoder, 4, 2).fit(data))
