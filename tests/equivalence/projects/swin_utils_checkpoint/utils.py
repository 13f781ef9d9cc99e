import os

import torch

try:
    # noinspection PyUnresolvedReferences
    from apex import amp
except ImportError:
    amp = None


def load_checkpoint(config, path, model, optimizer):
    checkpoint = torch.load(path, map_location="cpu")
    msg = model.load_state_dict(checkpoint["model"], strict=False)
    print(msg)
    if "optimizer" in checkpoint:
        optimizer.load_state_dict(checkpoint["optimizer"])
        config.START_EPOCH = checkpoint["epoch"] + 1
        if "amp" in checkpoint and config.AMP_OPT_LEVEL != "O0" and amp is not None:
            amp.load_state_dict(checkpoint["amp"])
    del checkpoint


def save_checkpoint(config, epoch, model, optimizer):
    save_state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    if config.AMP_OPT_LEVEL != "O0" and amp is not None:
        save_state["amp"] = amp.state_dict()
    torch.save(save_state, os.path.join(config.OUTPUT, f"ckpt_epoch_{epoch}.pth"))


def get_grad_norm(parameters, norm_type=2):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    parameters = list(filter(lambda p: p.grad is not None, parameters))
    total_norm = 0
    for p in parameters:
        param_norm = p.grad.data.norm(norm_type)
        total_norm += param_norm.item() ** norm_type
    return total_norm ** (1.0 / norm_type)


def auto_resume_helper(output_dir):
    checkpoints = [c for c in os.listdir(output_dir) if c.endswith("pth")]
    if checkpoints:
        return max([os.path.join(output_dir, d) for d in checkpoints], key=os.path.basename)
    return None
