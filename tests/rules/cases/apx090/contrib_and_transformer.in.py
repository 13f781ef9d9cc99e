# expect: info apex.contrib still exists
# expect: manual apex.transformer is not migrated
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss
from apex.transformer import parallel_state

parallel_state.initialize_model_parallel(1)
criterion = SoftmaxCrossEntropyLoss()
