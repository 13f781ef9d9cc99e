from deepspeed.ops.adam import DeepSpeedCPUAdam, FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3, adam_w_mode=True, bias_correction=False)
