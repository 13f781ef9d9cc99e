# expect: manual: the context manager is entered by hand
# shape: __enter__ and __exit__ of scale_loss in two methods

import torch
import torch.nn as nn
from apex import amp


class Plugin:
    def pre_backward(self, loss, optimizer):
        self.context = amp.scale_loss(loss, optimizer)
        return self.context.__enter__()

    def post_backward(self):
        self.context.__exit__(None, None, None)


torch.manual_seed(122)
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
plugin = Plugin()
for i in range(4):
    loss = model(torch.randn(4, 4).cuda()).pow(2).mean()
    optimizer.zero_grad()
    plugin.pre_backward(loss, optimizer).backward()
    plugin.post_backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
