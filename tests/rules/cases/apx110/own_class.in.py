class FusedAdam:
    def __init__(self, params, lr=1e-3, bias_correction=True):
        self.params = params


optimizer = FusedAdam(model.parameters(), bias_correction=False)
