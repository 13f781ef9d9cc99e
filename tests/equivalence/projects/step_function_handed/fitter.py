class Fitter:
    def __init__(self, model, optimizer, step_fn):
        self.model = model
        self.optimizer = optimizer
        self.step_fn = step_fn

    def fit(self, batches):
        return [self.step_fn(self.model, self.optimizer, batch) for batch in batches]
