# expect: review

import torch
import torch.nn.functional as F

from apex import amp
from nets import Detector, Pyramid
from utils import errors, to_cpu


def evaluate(detector, pyramid, x, y):
    detector.eval()
    found = []
    with torch.no_grad():
        outputs = detector(x)
        found.append(to_cpu(outputs))
        levels = pyramid(x)
        found.append(errors(levels, y))
    detector.train()
    return found


def main():
    torch.manual_seed(3)
    detector, pyramid = Detector().cuda(), Pyramid().cuda()
    params = [*detector.parameters(), *pyramid.parameters()]
    optimizer = torch.optim.SGD(params, lr=0.1)
    [detector, pyramid], optimizer = amp.initialize([detector, pyramid], optimizer, opt_level="O1")
    for _ in range(4):
        x, y = torch.randn(5, 6).cuda(), torch.randint(0, 3, (5,)).cuda()
        out = detector(x)
        loss = F.cross_entropy(out["cls"], y) + out["box"].abs().mean()
        loss = loss + sum(F.cross_entropy(level, y) for level in pyramid(x))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print("%.5f" % loss.item())
        for one in evaluate(detector, pyramid, x, y):
            print({k: tuple(v.shape) for k, v in one.items()} if isinstance(one, dict) else one)
    return params


if __name__ == "__main__":
    main()
