# expect: review

import torch
import torch.nn as nn

from checkpoints import resume, save


class Solver:
    def __init__(self, options, state=None):
        self.options = options
        self.net = nn.Linear(4, 3).cuda()
        self.opti = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if self.options["use_amp"]:
            from apex import amp

            self.amp = amp
            self.net, self.opti = self.amp.initialize(self.net, self.opti, opt_level="O1")
        else:
            self.amp = None
        self.epoch = resume(self.net, self.opti, amp=self.amp, state=state) if state else 0

    def train(self, loader):
        losses = []
        for x, y in loader:
            self.opti.zero_grad()
            loss = nn.functional.cross_entropy(self.net(x), y)
            if self.amp:
                with self.amp.scale_loss(loss, self.opti) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.opti.step()
            losses.append(loss.item())
        return losses, save(self.net, self.opti, amp=self.amp, epoch=self.epoch + 1)


def main():
    torch.manual_seed(2)
    loader = [(torch.randn(4, 4).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(3)]
    out = []
    for use_amp in (False, True):
        losses, state = Solver({"use_amp": use_amp}).train(loader)
        again, state = Solver({"use_amp": use_amp}, state).train(loader)
        out.append((losses, again, sorted(state), state["amp_state"] is None, state["epoch"]))
    return out


if __name__ == "__main__":
    print(main())
