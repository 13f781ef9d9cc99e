FP16 = False
