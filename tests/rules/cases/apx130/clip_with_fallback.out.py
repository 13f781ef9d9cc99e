from torch.nn.utils import clip_grad_norm_

norm = clip_grad_norm_(model.parameters(), args.clip, error_if_nonfinite=True)
