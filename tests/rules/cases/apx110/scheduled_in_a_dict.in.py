import torch
from apex import optimizers

optimizers_of = {
    "encoder": optimizers.FusedAdam(encoder.parameters(), lr=1e-4),
    "decoder": optimizers.FusedAdam(decoder.parameters(), lr=1e-3, bias_correction=True),
}
schedulers = [torch.optim.lr_scheduler.StepLR(one, 10) for one in optimizers_of.values()]
