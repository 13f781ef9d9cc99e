import torch


class Trainer:
    def __init__(self, args, model):
        self.args, self.model = args, model

    def train(self, loader):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        for step, batch in enumerate(loader):
            self._training_step(batch, scaler)
            if (step + 1) % self.args.steps == 0:
                if self.args.regularize:
                    penalty = sum(w.pow(2).sum() for w in self.model.parameters())
                    scaler.scale(penalty).backward()
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                self.model.zero_grad()

    def _training_step(self, batch, scaler):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = self.model(**batch)[0]
        scaler.scale(loss).backward()
