from loops import Trainer, is_apex_available

if is_apex_available():
    from apex import amp


class Distiller(Trainer):
    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher

    def compute_loss(self, model, inputs):
        loss = super().compute_loss(model, inputs)
        if self.teacher is not None:
            loss = loss + (model(inputs[0]) - self.teacher(inputs[0])).square().mean()
        return loss

    def training_step(self, model, inputs):
        model.train()
        with self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        if self.do_grad_scaling:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return loss.detach()
