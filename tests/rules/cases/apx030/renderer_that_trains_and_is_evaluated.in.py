import torch
from apex import amp


class Loss(torch.nn.Module):
    def forward(self, results, target):
        return torch.nn.functional.mse_loss(results["rgb"], target)


class System:
    def __init__(self, coarse, fine):
        self.models = {"coarse": coarse, "fine": fine}
        self.loss = Loss()
        params = [*coarse.parameters(), *fine.parameters()]
        self.optimizer = torch.optim.Adam(params)
        _, self.optimizer = amp.initialize([coarse, fine], self.optimizer, opt_level="O1")

    def render(self, rays):
        results = {}
        for name, model in self.models.items():
            results["rgb"] = model(rays)
        return results

    def train_step(self, rays, target):
        loss = self.loss(self.render(rays), target)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()

    def validate(self, rays, target):
        results = self.render(rays)
        return self.loss(results, target).item()


system = System(torch.nn.Linear(3, 3).cuda(), torch.nn.Linear(3, 3).cuda())
for rays, target in loader:
    system.train_step(rays, target)
print(system.validate(*held_out))
