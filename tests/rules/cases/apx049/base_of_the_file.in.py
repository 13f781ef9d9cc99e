# expect: manual the training code of this amp stands in another file
from transformers.utils import is_apex_available

if is_apex_available():
    from apex import amp


class Trainer:
    use_apex = True


class LoopTrainer(Trainer):
    def clip(self, model):
        norm = torch.nn.utils.clip_grad_norm_(
            amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
            self.args.max_grad_norm,
        )
