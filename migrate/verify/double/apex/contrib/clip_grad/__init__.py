"""Apex's clip: torch's, with a norm that is one kernel."""

from .clip_grad import clip_grad_norm_

__all__ = ["clip_grad_norm_"]
