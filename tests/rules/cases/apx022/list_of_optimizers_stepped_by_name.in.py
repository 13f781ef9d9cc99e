# expect: manual
import torch
from apex import amp


class Optimizers(list, Registered):
    def zero_grad(self):
        for o in self:
            o.zero_grad()

    def step(self):
        for o in self:
            o.step()


model = build().cuda()
dense = torch.optim.AdamW(model.dense.parameters(), lr=0.1)
sparse = torch.optim.Adagrad(model.embedding.parameters(), lr=0.1)
model, (dense, sparse) = amp.initialize(model, [dense, sparse], opt_level="O1")
optimizers = Optimizers([dense, sparse])
for x, y in loader:
    optimizers.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizers) as scaled_loss:
        scaled_loss.backward()
    for o in optimizers:
        torch.nn.utils.clip_grad_norm_(amp.master_params(o), 1.0)
    getattr(optimizers, which)()
