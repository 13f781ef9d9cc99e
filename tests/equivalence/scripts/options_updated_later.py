# expect: safe
# shape: a dictionary of options, one of them False, that the caller's options are put into; evaluation under one of them

import torch
import torch.nn as nn
from apex import amp


class Trainer:
    def __init__(self, options=None):
        self.model = nn.Linear(4, 2).cuda()
        self.args = {"fp16": True, "evaluate_during_training": False}
        if options:
            self.args.update(options)

    def train_model(self, batches, options=None):
        if options:
            self.args.update(options)
        self.train(batches)

    def train(self, batches):
        model, args = self.model, self.args
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if args["fp16"]:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            if args["fp16"]:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            model.zero_grad()
            if args["evaluate_during_training"]:
                print(self.evaluate(batches))

    def evaluate(self, batches):
        with torch.no_grad():
            return sum(float(self.model(x).argmax(1).sum()) for x, _ in batches)


torch.manual_seed(4)
batches = [(torch.randn(3, 4).cuda(), torch.randint(0, 2, (3,)).cuda()) for _ in range(3)]
Trainer().train_model(batches)
