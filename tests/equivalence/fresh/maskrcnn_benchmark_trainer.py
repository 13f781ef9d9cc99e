# expect: safe
# casts: real

# maskrcnn-benchmark style: USE_AMP via DTYPE in the config
import logging
import torch
import torch.nn.functional as F
from torch import nn

try:
    from apex import amp
except ImportError:
    raise ImportError('Use APEX for multi-precision via apex.amp')


class CfgNode(dict):
    __getattr__ = dict.__getitem__


cfg = CfgNode(DTYPE="float16", SOLVER=CfgNode(BASE_LR=0.02, MAX_ITER=6, WARMUP_ITERS=2, WEIGHT_DECAY=1e-4))


class TinyRCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(True))
        self.rpn_cls = nn.Conv2d(8, 1, 1)
        self.rpn_reg = nn.Conv2d(8, 4, 1)
        self.box_head = nn.Linear(8 * 2 * 2, 8)
        self.cls_score = nn.Linear(8, 3)

    def forward(self, images, targets=None):
        feats = self.backbone(images)
        objectness, deltas = self.rpn_cls(feats), self.rpn_reg(feats)
        crops = F.adaptive_avg_pool2d(feats, 2).flatten(1)
        logits = self.cls_score(F.relu(self.box_head(crops)))
        if self.training:
            return {
                "loss_objectness": F.binary_cross_entropy_with_logits(objectness, targets["mask"]),
                "loss_rpn_box_reg": F.smooth_l1_loss(deltas, targets["deltas"], reduction="sum") / deltas.numel(),
                "loss_classifier": F.cross_entropy(logits, targets["labels"]),
            }
        return F.softmax(logits, -1), objectness.sigmoid()


def reduce_loss_dict(loss_dict, world_size=1):
    if world_size < 2:
        return loss_dict
    raise NotImplementedError


class WarmupLR(torch.optim.lr_scheduler.LRScheduler):
    def __init__(self, optimizer, warmup, last_epoch=-1):
        self.warmup = warmup
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        f = min(1.0, (self.last_epoch + 1) / (self.warmup + 1))
        return [lr * f for lr in self.base_lrs]


def do_train(model, data_loader, optimizer, scheduler, device):
    logger = logging.getLogger("maskrcnn_benchmark.trainer")
    logger.info("Start training")
    model.train()
    meters = []
    for iteration, (images, targets) in enumerate(data_loader, 1):
        images = images.to(device)
        targets = {k: v.to(device) for k, v in targets.items()}

        loss_dict = model(images, targets)
        losses = sum(loss for loss in loss_dict.values())

        # reduce losses over all GPUs for logging purposes
        loss_dict_reduced = reduce_loss_dict(loss_dict)
        losses_reduced = sum(loss for loss in loss_dict_reduced.values())
        meters.append(losses_reduced.item())

        optimizer.zero_grad()
        # Note: If mixed precision is not used, this ends up doing nothing
        # Otherwise apply loss scaling for mixed-precision recipe
        with amp.scale_loss(losses, optimizer) as scaled_losses:
            scaled_losses.backward()
        optimizer.step()
        scheduler.step()
    return meters


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = [(torch.randn(2, 3, 8, 8), {"mask": (torch.rand(2, 1, 4, 4) > 0.5).float(),
                                       "deltas": torch.randn(2, 4, 4, 4),
                                       "labels": torch.randint(0, 3, (2,))}) for _ in range(cfg.SOLVER.MAX_ITER)]
    model = TinyRCNN().to(device)
    params = []
    for key, value in model.named_parameters():
        lr, wd = cfg.SOLVER.BASE_LR, cfg.SOLVER.WEIGHT_DECAY
        if "bias" in key:
            lr, wd = lr * 2, 0
        params += [{"params": [value], "lr": lr, "weight_decay": wd}]
    optimizer = torch.optim.SGD(params, lr=cfg.SOLVER.BASE_LR, momentum=0.9)
    scheduler = WarmupLR(optimizer, cfg.SOLVER.WARMUP_ITERS)

    # Initialize mixed-precision training
    use_mixed_precision = cfg.DTYPE == "float16"
    amp_opt_level = 'O1' if use_mixed_precision else 'O0'
    model, optimizer = amp.initialize(model, optimizer, opt_level=amp_opt_level)

    meters = do_train(model, data, optimizer, scheduler, device)
    model.eval()
    with torch.no_grad():
        scores, obj = model(data[0][0].to(device))
    return meters, scores.float(), obj.float(), [p for p in model.parameters()]


if __name__ == "__main__":
    main()
