import torch
from apex import amp


def fit(model, optimizer):
	out = []
	for i in range(4):
		# the loss
		loss = model(torch.randn(4, 3)).pow(2).sum()
		if i == 2:
			loss = loss * 1e37
		optimizer.zero_grad()
		with amp.scale_loss(loss, optimizer) as scaled:
			scaled.backward()  # tabs
		optimizer.step()
		out.append(loss.item())
	return out