# apex calls it master_params; here it is a list
master_params = [p.clone().float() for p in model.parameters()]
for p in master_params:
    p.grad = None
