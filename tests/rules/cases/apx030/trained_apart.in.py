# expect: review trains without amp
import torch
import torch.nn.functional as F
from apex import amp


def fit(features, labels):
    probe = torch.nn.Linear(6, 2)
    sgd = torch.optim.SGD(probe.parameters(), lr=0.1)
    loss = F.cross_entropy(probe(features), labels)
    loss.backward()
    sgd.step()


model = build().cuda()
model = amp.initialize(model, opt_level="O1")
fit(model(images), labels)
