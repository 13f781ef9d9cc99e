# -*- coding: latin-1 -*-
# apex est parti, voilà
import torch


def f(amp):
	return amp.scale_loss	# pas d'apex