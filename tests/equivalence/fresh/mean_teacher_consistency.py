# expect: review: opt_level=args.opt_level is decided at run time: O0 switches autocast 

"""Semi-supervised segmentation, mean teacher. Teacher is a second network which never sees an optimizer."""
import argparse
import math
import torch
from torch import nn
from torch.nn import functional as F

try:
    from apex import amp
except ImportError:
    amp = None


def sigmoid_rampup(current, length):
    current = min(max(current, 0.0), length)
    phase = 1.0 - current / length
    return math.exp(-5.0 * phase * phase)


def create_model(device, ema=False):
    net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 2, 1)).to(device)
    if ema:
        for param in net.parameters():
            param.detach_()
    return net


def update_ema_variables(model, ema_model, alpha, global_step):
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


def train(args, snapshot):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, ema_model = create_model(device), create_model(device, ema=True)
    ema_model.load_state_dict(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=args.base_lr, momentum=0.9, weight_decay=0.0001)
    if args.use_apex and amp is not None:
        (model, ema_model), optimizer = amp.initialize([model, ema_model], optimizer, opt_level=args.opt_level, verbosity=0)
    model.train()
    ema_model.train()
    iter_num = 0
    for epoch in range(args.epochs):
        for volume, label in snapshot:
            volume, label = volume.to(device), label.to(device)
            noise = torch.clamp(torch.randn_like(volume) * 0.1, -0.2, 0.2)
            ema_inputs = volume + noise
            outputs = model(volume)
            with torch.no_grad():
                ema_output = ema_model(ema_inputs)
            labeled = args.labeled_bs
            loss_seg = F.cross_entropy(outputs[:labeled], label[:labeled])
            consistency_weight = args.consistency * sigmoid_rampup(iter_num, args.consistency_rampup)
            consistency_dist = F.mse_loss(F.softmax(outputs, dim=1), F.softmax(ema_output, dim=1))
            loss = loss_seg + consistency_weight * consistency_dist
            if iter_num == 2:
                loss = loss * float('inf')
            optimizer.zero_grad()
            if args.use_apex and amp is not None:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            update_ema_variables(model, ema_model, args.ema_decay, iter_num)
            iter_num += 1
            lr_ = args.base_lr * (1.0 - iter_num / 20) ** 0.9
            for param_group in optimizer.param_groups:
                param_group['lr'] = lr_
            if iter_num != 3:
                print('iteration %d : loss : %f seg %f' % (iter_num, loss.item(), loss_seg.item()))
    return list(model.state_dict().values()), list(ema_model.state_dict().values())


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--base_lr', type=float, default=0.05)
    p.add_argument('--labeled_bs', type=int, default=2)
    p.add_argument('--epochs', type=int, default=2)
    p.add_argument('--seed', type=int, default=1337)
    p.add_argument('--ema_decay', type=float, default=0.99)
    p.add_argument('--consistency', type=float, default=0.1)
    p.add_argument('--consistency_rampup', type=float, default=5.0)
    p.add_argument('--use_apex', type=int, default=1)
    p.add_argument('--opt_level', type=str, default='O1')
    args = p.parse_args([])
    torch.manual_seed(0)
    snapshot = [(torch.randn(4, 1, 6, 6), torch.randint(0, 2, (4, 6, 6))) for _ in range(3)]
    return train(args, snapshot)


if __name__ == "__main__":
    main()
