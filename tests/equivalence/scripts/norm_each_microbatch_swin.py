# expect: review: norms are computed after every micro-batch, so they are divided by the loss scale
# shape: Swin's loop, an arm that accumulates and one that does not, a norm of the file's own in each

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(5)


def get_grad_norm(parameters, norm_type=2):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    parameters = list(filter(lambda p: p.grad is not None, parameters))
    norm_type = float(norm_type)
    total_norm = 0
    for p in parameters:
        param_norm = p.grad.data.norm(norm_type)
        total_norm += param_norm.item() ** norm_type
    total_norm = total_norm ** (1. / norm_type)
    return total_norm


def train_one_epoch(model, criterion, data_loader, optimizer, steps, clip):
    optimizer.zero_grad()
    for idx, (samples, targets) in enumerate(data_loader):
        outputs = model(samples)
        if steps > 1:
            loss = criterion(outputs, targets) / steps
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if clip:
                grad_norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
            else:
                grad_norm = get_grad_norm(amp.master_params(optimizer))
            if (idx + 1) % steps == 0:
                optimizer.step()
                optimizer.zero_grad()
        else:
            loss = criterion(outputs, targets)
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if clip:
                grad_norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
            else:
                grad_norm = get_grad_norm(amp.master_params(optimizer))
            optimizer.step()
        print(idx, "%.5f" % loss.item(), "%.5f" % float(grad_norm))


model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
loader = [(torch.randn(4, 4).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(4)]
for steps in (2, 1):
    for clip in (0.0, 5.0):
        train_one_epoch(model, nn.CrossEntropyLoss(), loader, optimizer, steps, clip)
