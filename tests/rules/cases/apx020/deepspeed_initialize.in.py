# apex is what deepspeed took the name of its option from
import deepspeed

model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config={"amp": {"opt_level": "O1"}})
for x, y in loader:
    loss = model(x, y)
    model.backward(loss)
    model.step()
