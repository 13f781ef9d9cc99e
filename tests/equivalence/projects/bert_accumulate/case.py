# expect: safe

import logging
from types import SimpleNamespace

import torch
import torch.nn as nn

from modeling import Classifier
from training import evaluate, train


def main():
    args = SimpleNamespace(fp16=True, fp16_opt_level="O1", gradient_accumulation_steps=2, num_train_epochs=2,
                           max_grad_norm=1.0, learning_rate=5e-3, warmup_steps=1, n_gpu=1, local_rank=-1, logging_steps=2)
    torch.manual_seed(0)
    model = Classifier(16, 8, 3)
    features = [(torch.randint(0, 16, (2, 5)), torch.randint(0, 3, (2,))) for _ in range(6)]
    step, loss, logs = train(args, features, model)
    result = evaluate(args, model, features[:2])
    return step, loss, logs, result, list(model.parameters())


if __name__ == "__main__":
    print(main())
