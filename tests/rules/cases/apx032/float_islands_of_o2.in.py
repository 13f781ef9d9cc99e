# expect: review this product ran in float32 under O2 and O3
# expect: review this copy was made before amp.initialize
# expect: review O2 kept float16 weights
# rule: APX020
import copy
import torch
import torch.nn as nn
from apex import amp


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)

    def forward(self, x):
        q = self.q(x).float()
        score = torch.matmul(q, q.transpose(0, 1))
        return score.type_as(x)


model = Attention().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ema = copy.deepcopy(model)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
with torch.no_grad():
    print(ema(x).mean())
