from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=0.1)
print(checkpoint["step"], optimizer.state[p]["step"])
