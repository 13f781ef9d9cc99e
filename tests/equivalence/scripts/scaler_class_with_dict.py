# expect: review: what the legacy code saved does not load
# shape: a class of the project's own scales and steps, and asks amp.__dict__ for what amp has

import torch
import torch.nn as nn

try:
    from apex import amp
    has_apex = True
except ImportError:
    amp = None
    has_apex = False


class ApexScaler:
    def __call__(self, loss, optimizer, clip=None):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
        optimizer.step()

    def state_dict(self):
        if "state_dict" in amp.__dict__:
            return amp.state_dict()

    def load_state_dict(self, state):
        if "load_state_dict" in amp.__dict__:
            amp.load_state_dict(state)


torch.manual_seed(42)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
loss_scaler = ApexScaler()
for step in range(5):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    if step == 1:
        loss = loss * 1e37
    optimizer.zero_grad()
    loss_scaler(loss, optimizer, clip=0.2)
    print("%d %.6f" % (step, loss.item()))
loss_scaler.load_state_dict(loss_scaler.state_dict())
print(model.weight.sum().item())
