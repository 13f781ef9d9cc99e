from utils.contrib import clip_grad_norm_

clip_grad_norm_(model.parameters(), 1.0)
