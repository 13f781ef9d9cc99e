from transformers import Trainer
from transformers.utils import is_apex_available

if is_apex_available():
    from apex import amp


class LoopTrainer(Trainer):
    def clip(self, model):
        if self.args.fp16 and self.use_apex:
            clip_grad_norm_(amp.master_params(self.optimizer), 1.0)
        else:
            self.accelerator.clip_grad_norm_(model.parameters(), 1.0)
