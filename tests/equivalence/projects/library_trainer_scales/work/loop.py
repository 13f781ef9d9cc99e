import torch
from loops import is_apex_available

from work.trainer import Distiller

if is_apex_available():
    from apex import amp


class LoopTrainer(Distiller):
    def _wrap_model(self, model, training=True):
        if self.use_apex and training:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1")
        return model

    def train(self, batches, max_norm):
        model = self._wrap_model(self.model)
        for batch in batches:
            self.losses.append(float(self.training_step(model, batch)))
            if max_norm > 0:
                if self.do_grad_scaling:
                    self.scaler.unscale_(self.optimizer)
                torch.nn.utils.clip_grad_norm_(
                    amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
                    max_norm,
                )
            if self.do_grad_scaling:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()
            self.optimizer.zero_grad()
