# expect: safe
# shape: a derived trainer attacks its own model ahead of each step, in a file of its own

import torch
from trainers import build_trainer

OPTS = {"trainer": "adversarial", "fp16": True, "fp16_opt_level": "O1", "lr": 1e-2, "epochs": 2, "adv_eps": 0.3, "seed": 13, "ema": 0.9}


def main():
    torch.manual_seed(OPTS["seed"])
    trainer = build_trainer(OPTS)
    result = trainer.fit()
    return result, [p.sum() for p in trainer.model.parameters()]


if __name__ == "__main__":
    main()
