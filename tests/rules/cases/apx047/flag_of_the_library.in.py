# expect: review a run that chooses Apex there stops here now
from transformers import Trainer
from transformers.file_utils import is_apex_available
from transformers.trainer import _use_apex, _use_native_amp

if is_apex_available():
    from apex import amp


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        if self.args.fp16 and _use_native_amp:
            self.scaler.scale(loss).backward()
        elif self.args.fp16 and _use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return loss.detach()
