# expect: review a run that chooses Apex there stops here now
from transformers import Trainer
from transformers.utils import is_apex_available, is_sagemaker_mp_enabled

if is_apex_available():
    from apex import amp


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        if self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            self.accelerator.backward(loss)
        return loss.detach()

    def clip(self, model, args):
        if self.args.fp16 and self.use_apex:
            torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), args.max_grad_norm)
        else:
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
