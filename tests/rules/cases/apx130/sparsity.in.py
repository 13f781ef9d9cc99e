# expect: manual ASP
from apex.contrib.sparsity import ASP

ASP.prune_trained_model(model, optimizer)
