from fp16 import FP16_Module, FP16_Optimizer

model = FP16_Module(model)
