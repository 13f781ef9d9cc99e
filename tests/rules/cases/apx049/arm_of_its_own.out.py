from transformers import Trainer


class LoopTrainer(Trainer):
    def clip(self, model):
        if self.args.fp16 and self.use_apex:
            clip_grad_norm_(
                (p for group in self.optimizer.param_groups for p in group["params"]), 1.0
            )
        else:
            self.accelerator.clip_grad_norm_(model.parameters(), 1.0)
