import torch

try:
    from apex import amp
except ImportError:
    amp = None


def clip_gradients(cfg, model, optimizer):
    if not cfg.grad_clip:
        return
    if cfg.fp16:
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), cfg.grad_clip)
    else:
        torch.nn.utils.clip_grad_norm_(model.parameters(), cfg.grad_clip)
