from transformers import Trainer


class LoopTrainer(Trainer):
    def train(self, loader):
        model = self.model_wrapped
        if self.use_apex:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        for inputs in loader:
            self.training_step(model, inputs)
            if self.use_amp:
                self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(
                model.parameters(),
                self.args.max_grad_norm,
            )
            if self.use_amp:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()
            model.zero_grad()
