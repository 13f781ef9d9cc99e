# expect: review a run that chooses Apex there stops here now
import torch
from transformers import Trainer
from transformers.utils import is_apex_available

if is_apex_available():
    from apex import amp


class BothTrainer(Trainer):
    def _wrap_model(self, model, training=True):
        if self.use_apex and training:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level=self.args.fp16_opt_level)
        if self.args.n_gpu > 1:
            model = torch.nn.DataParallel(model)
        return model

    def training_step(self, model, inputs):
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.autocast_smart_context_manager():
            loss = self.compute_loss(model, inputs)
        if self.do_grad_scaling:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return loss.detach()
