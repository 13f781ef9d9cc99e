# expect: review: nothing that is read here calls load_state_dict()
# shape: timm's ApexScaler in one file with its training, beside a native one; nobody loads what it has saved

import torch
import torch.nn as nn
from apex import amp


class ApexScaler:
    state_dict_key = "amp"

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward(create_graph=create_graph)
        if clip_grad is not None:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip_grad)
        optimizer.step()

    def state_dict(self):
        if "state_dict" in amp.__dict__:
            return amp.state_dict()

    def load_state_dict(self, state_dict):
        if "load_state_dict" in amp.__dict__:
            amp.load_state_dict(state_dict)


def main(use_amp="apex"):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_scaler = None
    if use_amp == "apex":
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    for step in range(6):
        x, y = torch.randn(6, 4).cuda(), torch.randn(6, 2).cuda()
        loss = (model(x) - y).abs().mean()
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=0.5, parameters=model.parameters())
        else:
            loss.backward()
            optimizer.step()
        print("%.5f" % loss.item())
    state = loss_scaler.state_dict() if loss_scaler is not None else {}
    print(len(state) > 0)


main()
