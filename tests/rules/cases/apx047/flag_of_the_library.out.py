from transformers import Trainer
from transformers.trainer import _use_apex, _use_native_amp


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        if self.args.fp16 and _use_native_amp:
            self.scaler.scale(loss).backward()
        elif self.args.fp16 and _use_apex:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        else:
            loss.backward()
        return loss.detach()
