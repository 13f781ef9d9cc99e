def step(loss, optimizer):
    loss.backward()
    optimizer.step()
