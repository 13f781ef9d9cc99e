# rule: APX030
# A network makes a float32 tensor of the array that it is handed: an array has no `.float()`.
import numpy as np
import torch
import torch.nn.functional as F
from apex import amp


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(torch.as_tensor(x, dtype=torch.float32))

    def act(self, x):
        with torch.no_grad():
            return self(x).argmax().item()


policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
policy, optimizer = amp.initialize(policy, optimizer, opt_level="O1")
state = np.random.randn(4)
for _ in range(3):
    action = policy.act(state)
    loss = F.cross_entropy(policy(np.random.randn(8, 4)), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
