# expect: review: an Apex scaler class beside a native one: what trained without Apex ran under its casts all the same
# shape: ApexScaler and NativeScaler objects that the training loop calls
# argv: --apex-amp
# argv: --native-amp
# argv:

import argparse

import torch
import torch.nn as nn

try:
    from apex import amp
    has_apex = True
except ImportError:
    amp = None
    has_apex = False


class ApexScaler:
    state_dict_key = "amp"

    def __call__(self, loss, optimizer, clip_grad=None, create_graph=False):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward(create_graph=create_graph)
        if clip_grad is not None:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip_grad)
        optimizer.step()

    def state_dict(self):
        if 'state_dict' in amp.__dict__:
            return amp.state_dict()


class NativeScaler:
    state_dict_key = "amp_scaler"

    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu")

    def __call__(self, loss, optimizer, clip_grad=None, create_graph=False):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        if clip_grad is not None:
            self._scaler.unscale_(optimizer)
        self._scaler.step(optimizer)
        self._scaler.update()


parser = argparse.ArgumentParser()
parser.add_argument('--apex-amp', action='store_true', default=False)
parser.add_argument('--native-amp', action='store_true', default=False)
args = parser.parse_args()
torch.manual_seed(119)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_scaler = None
if args.apex_amp and has_apex:
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    loss_scaler = ApexScaler()
elif args.native_amp:
    loss_scaler = NativeScaler()
for step in range(4):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    optimizer.zero_grad()
    if loss_scaler is not None:
        loss_scaler(loss, optimizer, clip_grad=None)
    else:
        loss.backward()
        optimizer.step()
    print(step, "%.6f" % loss.item())
