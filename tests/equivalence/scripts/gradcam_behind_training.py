# expect: safe
# shape: hooks keep activations and gradients, a plain backward of one score behind training

# hooks that store activations / gradients; printing a saliency after training
import torch
import torch.nn as nn
from apex import amp


class GradCAM:
    def __init__(self, layer):
        self.a = self.g = None
        layer.register_forward_hook(lambda m, i, o: setattr(self, "a", o.detach()))
        layer.register_full_backward_hook(lambda m, gi, go: setattr(self, "g", go[0].detach()))

    def __call__(self):
        return (self.a * self.g).sum(1).relu()


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    cam = GradCAM(net[0])
    opt = torch.optim.SGD(net.parameters(), 0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    out = []
    for _ in range(3):
        loss = net(torch.randn(3, 4)).pow(2).mean()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        opt.step()
        out += [loss.item(), cam().sum().item()]
    net.eval()
    net.zero_grad()
    net(torch.randn(1, 4))[0, 1].backward()
    return out + [cam().sum().item()]


for value in main():
    print("%.6f" % value)
