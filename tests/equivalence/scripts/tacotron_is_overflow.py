# expect: safe
# shape: gradient norm decides whether the step is reported, hparams.fp16_run, two overflows

import math

import torch
import torch.nn as nn


class HParams:
    fp16_run = True
    grad_clip_thresh = 1.0
    learning_rate = 0.01


class Tacotron2Loss(nn.Module):
    def forward(self, model_output, targets):
        mel_out, gate_out = model_output
        mel_target, gate_target = targets
        return nn.MSELoss()(mel_out, mel_target) + nn.BCEWithLogitsLoss()(gate_out, gate_target)


class Tacotron2(nn.Module):
    def __init__(self):
        super(Tacotron2, self).__init__()
        self.lstm = nn.Linear(5, 6)
        self.mel, self.gate = nn.Linear(6, 3), nn.Linear(6, 1)

    def forward(self, x):
        h = torch.tanh(self.lstm(x))
        return self.mel(h), self.gate(h)


def train(hparams):
    torch.manual_seed(151)
    model = Tacotron2().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=hparams.learning_rate, weight_decay=1e-6)
    if hparams.fp16_run:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    criterion = Tacotron2Loss()
    is_overflow = False
    # ================ MAIN TRAINNIG LOOP! ===================
    for iteration in range(7):
        model.zero_grad()
        x = torch.randn(2, 5).cuda()
        y = (torch.randn(2, 3).cuda(), torch.ones(2, 1).cuda())
        y_pred = model(x)

        loss = criterion(y_pred, y)
        if iteration in (1, 4):
            loss = loss * float("nan")
        reduced_loss = loss.item()
        if hparams.fp16_run:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()

        if hparams.fp16_run:
            grad_norm = torch.nn.utils.clip_grad_norm_(
                amp.master_params(optimizer), hparams.grad_clip_thresh)
            is_overflow = math.isnan(grad_norm)
        else:
            grad_norm = torch.nn.utils.clip_grad_norm_(
                model.parameters(), hparams.grad_clip_thresh)

        optimizer.step()

        if not is_overflow:
            print("Train loss {} {:.6f} Grad Norm {:.6f}".format(iteration, reduced_loss, grad_norm))


train(HParams())
