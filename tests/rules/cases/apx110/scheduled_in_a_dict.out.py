import torch

optimizers_of = {
    "encoder": torch.optim.AdamW(encoder.parameters(), lr=1e-4, weight_decay=0.0, fused=True),
    "decoder": torch.optim.AdamW(decoder.parameters(), lr=1e-3, weight_decay=0.0, fused=True),
}
schedulers = [torch.optim.lr_scheduler.StepLR(one, 10) for one in optimizers_of.values()]
