# expect: safe

import torch

from parts import Collect, PreciseStatistics, Validate
from parts.callbacks import Held, Learner, Predict
from parts.functions import log_outputs
from trainer import Trainer


def main():
    torch.manual_seed(0)
    data = [(torch.rand(4, 5), torch.randint(0, 3, (4,))) for _ in range(4)]
    model = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 3))
    trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.2))
    validate, collect, precise = Validate(data[:2], 2), Collect(), PreciseStatistics(data)
    trainer.register([validate, collect, precise])
    logged = []
    trainer.calls.append(log_outputs(logged))
    predict, held = Predict(data[0][0]), Held(data[1][0])
    learner = Learner(trainer, [predict, held])
    learner.fit(data)
    seen = validate.scores, collect.kept, precise.means, predict.seen, held.seen, logged
    return trainer.losses, seen, list(model.parameters())


if __name__ == "__main__":
    print(main())
