import torch
from apex import amp


class Trainer:
    def __init__(self, args, exp):
        self.amp_training = args.fp16
        self.exp = exp

    def before_train(self):
        model = self.exp.get_model()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        if self.amp_training:
            model, optimizer = amp.initialize(model, self.optimizer, opt_level="O1")

        # value of epoch will be set in `resume_train`
        self.model = model

    def train(self, loader):
        self.before_train()
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            if self.amp_training:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
