# expect: safe
# shape: Trainer with save() that stores amp.state_dict(), evaluation between the epochs, private attributes

import io

import torch
import torch.nn as nn
from apex import amp


class Trainer:
    def __init__(self, net):
        self._net = net.cuda()
        self._optim = torch.optim.Adam(self._net.parameters(), lr=0.05)
        self._net, self._optim = amp.initialize(self._net, self._optim, opt_level="O1")
        self._epoch = 0

    def _train_epoch(self, data):
        self._net.train()
        for x, y in data:
            self._optim.zero_grad()
            loss = nn.functional.mse_loss(self._net(x.cuda()), y.cuda())
            with amp.scale_loss(loss, self._optim) as scaled_loss:
                scaled_loss.backward()
            self._optim.step()
        self._epoch += 1
        return loss.item()

    def _eval(self, data):
        self._net.eval()
        total = 0.0
        with torch.no_grad():
            for x, y in data:
                total += nn.functional.mse_loss(self._net(x.cuda()), y.cuda()).item()
        return total / len(data)

    def save(self):
        buffer = io.BytesIO()
        torch.save(dict(net=self._net.state_dict(), optim=self._optim.state_dict(), amp=amp.state_dict(),
                        epoch=self._epoch), buffer)
        return buffer

    def fit(self, data, epochs):
        for _ in range(epochs):
            print("train %.6f" % self._train_epoch(data), "eval %.6f" % self._eval(data))
            self.save()


torch.manual_seed(153)
Trainer(nn.Linear(3, 1)).fit([(torch.randn(4, 3), torch.ones(4, 1)) for _ in range(3)], 2)
