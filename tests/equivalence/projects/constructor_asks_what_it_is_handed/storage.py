class Rollout:
    def __init__(self, policy, x):
        self.values = policy.act(x).detach()
        self.total = self.values.sum().item()
