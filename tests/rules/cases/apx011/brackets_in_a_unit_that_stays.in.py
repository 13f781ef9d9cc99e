# expect: manual
import torch

try:
    from apex import amp

    APEX_AVAILABLE = True
except ImportError:
    APEX_AVAILABLE = False


class Trainer:
    def __init__(self, args, model):
        self.use_amp = True if (APEX_AVAILABLE and args.use_amp) else False
        self.really = bool(APEX_AVAILABLE and args.use_amp)
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if (APEX_AVAILABLE and args.verbose):
            print("mixed")
        if self.use_amp:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, x):
        loss = self.model(x)
        if self.use_amp:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
