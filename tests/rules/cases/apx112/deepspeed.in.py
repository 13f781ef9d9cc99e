from deepspeed.ops.adagrad import DeepSpeedCPUAdagrad as FusedAdagrad

optimizer = FusedAdagrad(model.parameters(), lr=0.01)
