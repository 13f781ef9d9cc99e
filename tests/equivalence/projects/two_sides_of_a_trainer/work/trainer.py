import torch

from work.base import Base, is_apex_available

if is_apex_available():
    from apex import amp


class Trainer(Base):
    def compute_loss(self, model, batch):
        return torch.nn.functional.mse_loss(model(batch[0]), batch[1])

    def training_step(self, model, batch):
        model.train()
        if self.use_amp:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = self.compute_loss(model, batch)
        else:
            loss = self.compute_loss(model, batch)
        if self.args.accumulate > 1:
            loss = loss / self.args.accumulate
        if self.use_amp:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return loss.detach()

    def train(self, batches):
        model = self.wrap_model(self.model)
        for step, batch in enumerate(batches):
            self.losses.append(float(self.training_step(model, batch)))
            if (step + 1) % self.args.accumulate == 0:
                if self.args.max_grad_norm > 0:
                    self.clip(model)
                if self.use_amp:
                    self.scaler.step(self.optimizer)
                    self.scaler.update()
                else:
                    self.optimizer.step()
                model.zero_grad()
        return self.evaluate(batches)

    @torch.no_grad()
    def evaluate(self, batches):
        model = self.wrap_model(self.model, training=False)
        model.eval()
        if self.use_amp:
            with torch.autocast("cuda", dtype=torch.float16):
                return [float(self.compute_loss(model, batch)) for batch in batches]
        return [float(self.compute_loss(model, batch)) for batch in batches]
