# expect: review several optimizers share this loss
import torch
from apex import amp


class Trainer:
    def __init__(self, hp, first, second):
        self.hp = hp
        self.models = {"G": first.cuda(), "D": second.cuda()}
        self.optimizers = {
            "G": torch.optim.SGD(self.models["G"].parameters(), lr=0.1),
            "D": torch.optim.SGD(self.models["D"].parameters(), lr=0.1),
        }
        if self.hp.mixed:
            wrapped = amp.initialize(
                models=[self.models["G"], self.models["D"]],
                optimizers=[self.optimizers["G"], self.optimizers["D"]],
            )
            self.models["G"], self.models["D"] = wrapped[0]
            self.optimizers["G"], self.optimizers["D"] = wrapped[1]

    def step(self, x, y):
        loss = torch.nn.functional.mse_loss(self.models["D"](self.models["G"](x)), y)
        for one in self.optimizers.values():
            one.zero_grad()
        if self.hp.mixed:
            with amp.scale_loss(loss, [self.optimizers["G"], self.optimizers["D"]]) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.optimizers["G"].step()
        self.optimizers["D"].step()
