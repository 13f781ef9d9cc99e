import torch
import torch.nn.functional as F
from model import Net


class Trainer:
    def __init__(self, fp16=True):
        self.fp16 = fp16
        self.model = None

    def load(self):
        self.model = Net().cuda()

    def setup_optimizer(self, optimization, lr):
        if optimization == "sgd":
            optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
            self.schedule = None
        elif optimization.startswith("adamw"):
            optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
            if self.fp16:
                self.model, optimizer = setup_fp16(self.model, optimizer)
            self.schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        else:
            raise NotImplementedError()
        self.optimizer = optimizer

    def do_train(self, batches):
        losses = []
        for x, y in batches:
            loss = F.cross_entropy(self.model(x), y)
            losses.append(loss.item())
            if self.fp16:
                from apex import amp

                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            if self.schedule is not None:
                self.schedule.step()
            self.model.zero_grad()
        return losses

    def do_inference(self, batches):
        found = []
        for x, y in batches:
            with torch.no_grad():
                found.append(F.cross_entropy(self.model(x), y).item())
        return found


def setup_fp16(model, optimizer):
    from apex import amp

    return amp.initialize(model, optimizer, opt_level="O1")
