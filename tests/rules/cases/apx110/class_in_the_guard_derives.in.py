# expect: review what derived from FusedAdam


def get_class():
    try:
        from apex.optimizers import FusedAdam as _FusedAdam  # noqa
        from apex.multi_tensor_apply import multi_tensor_applier

        if multi_tensor_applier.available:
            return FusedAdamV2
    except ImportError:
        pass
    return other


try:
    from apex.optimizers import FusedAdam
    from apex.multi_tensor_apply import multi_tensor_applier

    class FusedAdamV2(FusedAdam):
        def step(self, closure=None):
            multi_tensor_applier(self.multi_tensor_adam, self.flag, [self.grads, self.weights], 1)

except ImportError:
    pass
