# expect: safe
# shape: @amp.float_function over a function that stands for a C extension
# casts: real

import torch
import torch.nn as nn
from apex import amp


@amp.float_function
def roi_pool(features, size):
    # the extension has no kernel for half
    assert features.dtype == torch.float32
    return nn.functional.adaptive_max_pool2d(features, size)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(roi_pool(self.conv(x), 2).flatten(1))


torch.manual_seed(97)
model = Head().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(5):
    loss = nn.functional.cross_entropy(model(torch.randn(2, 1, 6, 6).cuda()), torch.tensor([1, 2]).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
