import torch


class Own(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
        import amp_C

        self.multi_tensor_sgd = amp_C.multi_tensor_sgd
