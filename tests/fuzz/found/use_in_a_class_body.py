# expect: review: what the legacy code saved does not load
# shape: a class of the project's own scales and steps, and asks amp.__dict__ for what amp has

import torch
import torch.nn as nn

try:
    from apex import amp
    has_apex = True
except ImportError:
    amp = None
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
model, optimizer = initialize(model, optimizer, opt_level="O1")
for step in range(6):
    loss = nn.functional.l1_loss(model(torch.randn(5, 4).cuda()), torch.ones(5, 4).cuda())
    if step == 1:
        loss = loss * float("inf")
    with scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    nn.utils.clip_grad_value_(masters(optimizer), 0.05)
    optimizer.step()
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
            \
amp.load_state_dict(state)


    # forward
    y = model( torch.ones(2, 3).cuda() * i )  # (2, 3)
    # loss
    loss = ( y - 1.0 ).pow(2).mean()  # mse

    optimizer.zero_grad()  # before the backward
    # backward, scaled
    with amp.scale_loss(loss, optimizer) as scaled_loss:  # scale up
        # inside the block
        scaled_loss.backward()  # gradients
        # end of the block
    # after the block
    optimizer.step()  # update
    print( i , "%.6f" % loss.item() )  # log
# done with amp.scale_loss
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
