from pl_bolts.optimizers.lars_scheduling import LARSWrapper
from classy_vision.optim.sgd import LARC

optimizer = LARSWrapper(LARC(optimizer), eta=0.001, clip=False)
