import torch
from transformers import Trainer


class BothTrainer(Trainer):
    def _wrap_model(self, model, training=True):
        if self.use_apex and training:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
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
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        else:
            loss.backward()
        return loss.detach()
