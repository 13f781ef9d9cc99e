FP16 = True
