from transformers import Trainer
from transformers.utils import is_sagemaker_mp_enabled


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        if self.use_apex:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        else:
            self.accelerator.backward(loss)
        return loss.detach()

    def clip(self, model, args):
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
