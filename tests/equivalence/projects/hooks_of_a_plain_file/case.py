# expect: safe

import torch

from apex import amp

from hooks import Clip, Validate, Watch
from runner import Runner


def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    clip, validate, watch = Clip(0.1), Validate([torch.rand(2, 5)]), Watch()
    runner = Runner(model, optimizer, watch)
    runner.register(clip, validate)
    runner.run([(torch.rand(4, 5), torch.randint(0, 3, (4,))) for _ in range(3)], 2)
    return runner.losses, clip.norms, validate.scores, watch.largest, list(model.parameters())


if __name__ == "__main__":
    print(main())
