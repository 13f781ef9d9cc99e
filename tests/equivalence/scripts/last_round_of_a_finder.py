# expect: safe
# shape: a learning-rate finder accumulates over a counted loop and unscales in its last round (pytorch-lr-finder)

import copy
import torch
from torch import nn

try:
    from apex import amp
    IS_AMP_AVAILABLE = True
except ImportError:
    IS_AMP_AVAILABLE = False


class LRFinder(object):
    def __init__(self, model, optimizer, criterion):
        self.model, self.criterion = model, criterion
        self.optimizer = optimizer
        self.history = []
        self.model_state = copy.deepcopy(model.state_dict())

    def reset(self):
        self.model.load_state_dict(self.model_state)

    def range_test(self, batches, num_iter=4, accumulation_steps=2):
        for iteration in range(num_iter):
            self.history.append(self._train_batch(batches[iteration], accumulation_steps))
            for group in self.optimizer.param_groups:
                group["lr"] *= 1.5

    def _train_batch(self, batch, accumulation_steps):
        self.model.train()
        total_loss = None
        self.optimizer.zero_grad()
        for i in range(accumulation_steps):
            inputs, labels = batch
            outputs = self.model(inputs)
            loss = self.criterion(outputs, labels)
            loss /= accumulation_steps
            if IS_AMP_AVAILABLE and hasattr(self.optimizer, "_amp_stash"):
                # accumulate without unscaling, but in the last round
                delay_unscale = ((i + 1) % accumulation_steps) != 0
                with amp.scale_loss(loss, self.optimizer, delay_unscale=delay_unscale) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            total_loss = loss if total_loss is None else total_loss + loss
        self.optimizer.step()
        return total_loss.item()


def main():
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 3)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    batches = [(torch.randn(8, 10).cuda(), torch.randint(0, 3, (8,)).cuda()) for _ in range(4)]
    batches[2] = (batches[2][0] * float("inf"), batches[2][1])
    finder = LRFinder(net, optimizer, nn.CrossEntropyLoss())
    finder.range_test(batches)
    print(["%.6f" % value for value in finder.history])
    finder.reset()


main()
