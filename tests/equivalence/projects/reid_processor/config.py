class _Node(dict):
    __getattr__ = dict.__getitem__


cfg = _Node(SOLVER=_Node(FP16=True, BASE_LR=0.01, MAX_EPOCHS=2), MODEL=_Node(METRIC_LOSS_TYPE="triplet"))
