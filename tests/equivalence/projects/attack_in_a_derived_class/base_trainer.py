import torch
from torch import nn
from registry import TRAINERS

try:
    from apex import amp
except ImportError:
    amp = None


@TRAINERS.register("base")
class BaseTrainer:
    def __init__(self, opts):
        self.opts = opts
        self.fp16 = opts["fp16"] and amp is not None
        self.build_model()
        self.build_optimizer()
        if self.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level=opts["fp16_opt_level"])
        self.criterion = nn.CrossEntropyLoss()
        self.after_setup()

    def build_model(self):
        self.model = nn.Sequential(nn.Linear(14, 20), nn.ReLU(), nn.Linear(20, 4)).cuda()

    def build_optimizer(self):
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=self.opts["lr"])

    def after_setup(self):
        pass

    def before_step(self):
        pass

    def after_step(self):
        pass

    def backward(self, loss):
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()

    def train_step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        self.backward(loss)
        return loss

    def batches(self):
        g = torch.Generator().manual_seed(1)
        for _ in range(4):
            yield torch.randn(8, 14, generator=g), torch.randint(0, 4, (8,), generator=g)

    def fit(self):
        history = []
        for epoch in range(self.opts["epochs"]):
            self.model.train()
            for x, y in self.batches():
                loss = self.train_step(x.cuda(), y.cuda())
                self.before_step()
                self.optimizer.step()
                self.after_step()
                history.append(loss.item())
            history.append(self.evaluate())
        return history

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        return sum(self.criterion(self.model(x), y).item() for x, y in self.batches())
