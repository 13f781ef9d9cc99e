from transformers import Trainer


class LoopTrainer(Trainer):
    def clip(self, model):
        norm = torch.nn.utils.clip_grad_norm_(
            (p for group in self.optimizer.param_groups for p in group["params"])
            if self.use_apex
            else model.parameters(),
            self.args.max_grad_norm,
        )
