import torch

optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05, weight_decay=1e-4)
optimizer.load_state_dict(state["optimizer"])
