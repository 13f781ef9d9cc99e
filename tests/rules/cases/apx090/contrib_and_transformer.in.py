# expect: manual apex.contrib.xentropy.SoftmaxCrossEntropyLoss has no counter
# expect: manual apex.transformer.parallel_state has no counterpart in torch 
# expect: manual apex.transformer.parallel_state.initialize_model_parallel ha
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss
from apex.transformer import parallel_state

parallel_state.initialize_model_parallel(1)
criterion = SoftmaxCrossEntropyLoss()
