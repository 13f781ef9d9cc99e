trainer = pl.Trainer(precision=16, amp_backend="native", amp_level=None)
args = TrainingArguments("out", fp16=True, half_precision_backend="auto")
