# expect: manual this optimizer is initialized in another file
from transformers import Trainer
from apex import amp


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss, other = self.compute_losses(model, inputs)
        if self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            self.accelerator.backward(other)
        return loss.detach()
