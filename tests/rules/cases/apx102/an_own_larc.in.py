class LARC:
    def __init__(self, optimizer):
        self.optim = optimizer


optimizer = LARC(optimizer)
