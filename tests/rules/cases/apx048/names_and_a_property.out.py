import torch


def build(model, opt):
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    return model, optimizer


class Optimizer:
    def __init__(self, optimizer):
        self._optimizer = optimizer
        self._fp16 = None
        self._scaler = None

    @classmethod
    def from_opt(cls, model, opt):
        model, inner = build(model, opt)
        optimizer = cls(inner)
        if opt.model_dtype == "fp16":
            if opt.optim == "fusedadam":
                if opt.apex_opt_level in ["O0", "O1", "O2", "O3"]:
                    optimizer._fp16 = "amp"
                    from torch.cuda.amp import GradScaler

                    optimizer._scaler = GradScaler()
                else:
                    optimizer._fp16 = "plain"
            else:
                optimizer._fp16 = "amp"
                from torch.cuda.amp import GradScaler

                optimizer._scaler = GradScaler()
        return optimizer

    @property
    def amp(self):
        """True if use torch amp mix precision training."""
        return self._fp16 == "amp"

    def zero_grad(self):
        self._optimizer.zero_grad()

    def backward(self, loss):
        if self.amp:
            self._scaler.scale(loss).backward()
        else:
            loss.backward()

    def step(self):
        if self.amp:
            self._scaler.unscale_(self._optimizer)
        if self._fp16 != "plain":
            for group in self._optimizer.param_groups:
                torch.nn.utils.clip_grad_norm_(group["params"], 1.0)
        if self.amp:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        else:
            self._optimizer.step()


class Trainer:
    def __init__(self, model, optim):
        self.model, self.optim = model, optim

    def train(self, batches):
        for batch in batches:
            with torch.autocast("cuda", dtype=torch.float16, enabled=self.optim.amp):
                loss = self.model(batch).mean()
            self.optim.zero_grad()
            self.optim.backward(loss)
            self.optim.step()
