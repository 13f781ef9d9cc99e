class Scheduler:
    """Warms up linearly and stays."""

    def __init__(self, optimizer, t_initial=1, warmup_t=0, warmup_lr_init=0.0, **options):
        self.optimizer, self.warmup, self.first = optimizer, warmup_t, warmup_lr_init
        self.rates = [group["lr"] for group in optimizer.param_groups]
        self.step_update(0)

    def step_update(self, number):
        part = min(1.0, (number + 1) / max(1, self.warmup))
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = self.first + (rate - self.first) * part

    def state_dict(self):
        return {}
