# expect: manual the training code of this amp stands in another file
from transformers import Trainer
from transformers.utils import is_apex_available

if is_apex_available():
    from apex import amp


class LoopTrainer(Trainer):
    def clip(self, model):
        torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.args.max_grad_norm)
