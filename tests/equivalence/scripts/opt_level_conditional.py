# expect: safe
# shape: conditional expression O1 or O0, maskrcnn style
# argv:
# argv: --mixed

import argparse
import logging

import torch
from torch import nn

# See if we can use apex.DistributedDataParallel instead of the torch default,
# and enable mixed-precision via apex.amp
try:
    from apex import amp
except ImportError:
    raise ImportError('Use APEX for multi-precision via apex.amp')


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(4, 6)
        self.cls = nn.Linear(6, 2)
        self.box = nn.Linear(6, 4)

    def forward(self, images, targets):
        f = self.backbone(images).relu()
        return dict(loss_cls=nn.functional.cross_entropy(self.cls(f), targets),
                    loss_box=nn.functional.smooth_l1_loss(self.box(f), images))


def do_train(model, data_loader, optimizer, scheduler, device):
    logger = logging.getLogger("maskrcnn_benchmark.trainer")
    logger.info("Start training")
    model.train()
    for iteration, (images, targets) in enumerate(data_loader, 1):
        images = images.to(device)
        targets = targets.to(device)

        loss_dict = model(images, targets)

        losses = sum(loss for loss in loss_dict.values())

        optimizer.zero_grad()
        # Note: If mixed precision is not used, this ends up doing nothing
        # Otherwise apply loss scaling for mixed-precision recipe
        with amp.scale_loss(losses, optimizer) as scaled_losses:
            scaled_losses.backward()
        optimizer.step()
        scheduler.step()
        print("iter: %d loss: %.6f lr: %.4f" % (iteration, losses.item(), optimizer.param_groups[0]["lr"]))


def train(use_mixed_precision):
    device = torch.device("cuda")
    model = Detector()
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3], 0.1)
    # Initialize mixed-precision training
    amp_opt_level = 'O1' if use_mixed_precision else 'O0'
    model, optimizer = amp.initialize(model, optimizer, opt_level=amp_opt_level)
    loader = [(torch.randn(2, 4), torch.tensor([0, 1])) for _ in range(5)]
    do_train(model, loader, optimizer, scheduler, device)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed", action="store_true")
    torch.manual_seed(56)
    train(parser.parse_args().mixed)
