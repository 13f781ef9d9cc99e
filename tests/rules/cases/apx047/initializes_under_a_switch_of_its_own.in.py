# expect: manual the loss of this optimizer is not scaled in this file
from transformers import Trainer
from transformers.utils import is_apex_available

if is_apex_available():
    from apex import amp


class LoopTrainer(Trainer):
    def train(self, loader):
        model = self.model_wrapped
        self.use_apex = self.args.fp16
        if self.use_apex:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level=self.args.fp16_opt_level)
        for inputs in loader:
            self.training_step(model, inputs)
            if self.use_amp:
                self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(
                amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
                self.args.max_grad_norm,
            )
            if self.use_amp:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()
            model.zero_grad()
