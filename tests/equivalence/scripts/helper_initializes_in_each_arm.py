# expect: safe
# shape: MetaICL's setup: each arm makes an optimizer of its own and hands it to the function that initializes
# argv: --kind adam
# argv: --kind sgd --no-fp16
# argv: --kind adagrad --no-fp16

import argparse

import torch
import torch.nn as nn


def setup_fp16(model, optimizer):
    from apex import amp
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


class Model:
    def __init__(self, model, fp16=True):
        self.model, self.fp16 = model, fp16

    def setup_optimizer(self, kind, lr):
        if kind == "adagrad":
            optimizer = torch.optim.Adagrad(self.model.parameters(), lr=lr)
        elif kind == "sgd":
            optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
            if self.fp16:
                self.model, optimizer = setup_fp16(self.model, optimizer)
        elif kind == "adam":
            optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
            if self.fp16:
                self.model, optimizer = setup_fp16(self.model, optimizer)
        else:
            raise NotImplementedError(kind)
        self.optimizer = optimizer

    def do_train(self, data):
        self.model.train()
        for step, (x, y) in enumerate(data):
            loss = nn.functional.cross_entropy(self.model(x.cuda()), y.cuda())
            if step == 2:
                loss = loss * 1e37
            if self.fp16:
                from apex import amp
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.model.zero_grad()
            print(step, "%.5f" % loss.item())


parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="sgd")
parser.add_argument("--no-fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(9)
model = Model(nn.Linear(3, 4).cuda(), not args.no_fp16)
model.setup_optimizer(args.kind, 0.1)
model.do_train([(torch.randn(4, 3), torch.randint(0, 4, (4,))) for _ in range(5)])
