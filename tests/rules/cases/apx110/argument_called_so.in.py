def train(FusedAdam, apex, params):
    return FusedAdam(params, adam_w_mode=False), apex.optimizers.FusedAdam(params)
