args = TrainingArguments("out", fp16=True, fp16_opt_level="O1")
