try:
    from apex.contrib.clip_grad import clip_grad_norm_
except ImportError:
    from torch.nn.utils import clip_grad_norm_

norm = clip_grad_norm_(model.parameters(), args.clip, error_if_nonfinite=True)
