# expect: manual this optimizer is initialized in another file
from apex import amp


class Trainer:
    use_apex = True


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        if self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            self.accelerator.backward(loss)
        return loss.detach()
