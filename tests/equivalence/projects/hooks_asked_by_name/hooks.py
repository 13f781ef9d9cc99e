class Losses:
    def __init__(self):
        self.values = []

    def after_step(self):
        self.values.append(self.learn.loss.item())


class Norms:
    def __init__(self):
        self.values = []

    def after_backward(self):
        norm = sum(p.grad.pow(2).sum().item() for p in self.learn.model.parameters()) ** 0.5
        if norm == norm and norm != float("inf"):
            self.values.append(norm)
