from loops import Trainer


class Distiller(Trainer):
    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher

    def compute_loss(self, model, inputs):
        loss = super().compute_loss(model, inputs)
        if self.teacher is not None:
            loss = loss + (model(inputs[0]) - self.teacher(inputs[0])).square().mean()
        return loss
