# expect: safe
# shape: tab indentation

import torch
import torch.nn as nn
from apex import amp


class Solver(object):
	def __init__(self, lr):
		self.net = nn.Linear(4, 2).cuda()
		self.opt = torch.optim.SGD(self.net.parameters(), lr)
		self.net, self.opt = amp.initialize(self.net, self.opt, opt_level='O1')

	def train(self, n):
		for i in range(n):
			self.opt.zero_grad()
			out = self.net(torch.randn(3, 4).cuda())
			loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 0]).cuda())
			if i == 2:
				loss = loss * float('inf')
			with amp.scale_loss(loss, self.opt) as scaled_loss:
				scaled_loss.backward()
			nn.utils.clip_grad_norm_(self.net.parameters(), 0.1)
			self.opt.step()
			print('%d\t%.6f' % (i, loss.item()))


if __name__ == '__main__':
	torch.manual_seed(111)
	Solver(0.5).train(5)
