"""Gradients: names of what reads them, steps them, or leaves them alone. Habits, where torch has no name."""

from __future__ import annotations

from .words import Patterns

# Calls between backward and step that take the model or the optimizer and leave gradients alone.
NO_READER = Patterns(
    "zero_grad step train eval state_dict load_state_dict parameters named_parameters add_param_group no_sync backward "
    "cuda to half float module forward item detach cpu numpy",
    "print append format len isinstance getattr hasattr setattr id type str list tuple dict enumerate zip iter next "
    "sum",
    "update* log* info debug warning save* adjust* set_*lr* get_*lr* *schedul* *ema* unwrap* synchronize "
    "skip_synchronize evaluate* valid* test* checkpoint* add_scalar add_scalars master_params scale_loss watch",
    # the running statistics of norms
    "*_bn *batch*norm* *_buffers",
)
# Classes that are handed a model and leave its gradients alone.
KEEPERS = Patterns(
    "*Parallel *DDP *EMA* *Average* *Summary* *Logger* *Writer* *Checkpoint* *Loss* *Criterion* *Meter *Speedometer "
    "*Timer *ProgressBar *EarlyStop* *Validation*"
)
# Functions that throw gradients away.
CLEARS = Patterns("*zero*grad* *clear*grad* *reset*grad*")
# Functions that only hand on what they are given.
COLLECTS = frozenset("list tuple iter filter sorted reversed enumerate".split())
# What says how many backwards make a step: one or more.
BACKWARDS = Patterns(
    "*accum*steps *accum*step *accum*iter *accum*iters *accum*batches *accum*freq *accum*num num_accum* *grad_accum "
    "gradient_accumulation accumulation update_freq iter_size"
)
CLIP = Patterns("*clip*")
# torch's clips that return the norm that was there before.
CLIPS_NORM = frozenset({"clip_grad_norm_", "clip_grad_norm"})
# The functions of torch.nn.utils that clip gradients, or give their norm.
TORCH_CLIPS = CLIPS_NORM | frozenset("clip_grad_value_ clip_grads_with_norm_ get_total_norm".split())
# Functions that give the norm of the gradients of the parameters that they are handed.
GIVES_NORM = Patterns("*get*grad*norm comp*grad*norm calc*grad*norm grad_norm gradient_norm total_grad_norm")
# A clip of gradients, by its own name or by what is written in its call.
CLIPPED = Patterns("*grad* *norm* *master*")
# Methods that clip.
CLIP_METHODS = Patterns("*clip* *grad_norm*", exact=True)
# What a method called `clip` is of, or is handed, where it clips gradients.
OF_GRADIENTS = Patterns("*grad* *optim* *model* *net* *param* *clip* *master*")
# What is computed with a gradient says so.
GRADIENTS = Patterns("*grad*")
# Functions that have to do with gradients, so that what they are handed may be read.
ABOUT_GRADIENTS = Patterns("*grad* *norm* *clip*")
# Methods of a gradient, and functions that are handed one, that only look at it.
LOOKS = Patterns(
    "mean std var norm abs max min sum square pow sqrt item tolist cpu numpy float double detach clone flatten view "
    "reshape isnan isinf isfinite median quantile histc add_scalar add_histogram vector_norm",
    exact=True,
)
# Attributes of a model that are made of its gradients (not the flags of a tensor, nor a parameter's own).
MADE_OF_GRADIENTS = Patterns("gradient gradients grads grad_norm* gradient_norm* *_gradients *_grads")

# Functions and methods whose result grows with what they are given, to the first power.
LINEAR = frozenset(
    "norm vector_norm matrix_norm abs sum mean max min median clone detach float double cpu cuda to view reshape "
    "flatten contiguous item squeeze unsqueeze stack cat list tuple expand expand_as view_as type neg".split()
)
# Functions and methods whose result does not depend on the size of what they are given.
SCALE_FREE = frozenset(
    "sign isnan isinf isfinite any all numel nelement size dim zeros_like ones_like empty_like rand_like randn_like "
    "len normalize is_floating_point".split()
)

_STEPS = Patterns("step ?*_step step_?*", exact=True)
_NO_STEPS = Patterns("get_* set_*", exact=True)
# Classes that wrap an optimizer and step it.
OPTIMIZER_WRAPPERS = Patterns("*ahead* *optim* *wrap* *sam *swa*")
# Classes of optimizers, of torch, Apex and others.
OPTIMIZERS_MADE = Patterns(
    "*Adadelta *Adagrad *Adam *AdamW *Adamax *ASGD *NAdam *RAdam *RMSprop *Rprop *SGD SparseAdam *LAMB *LARS *Ranger "
    "*NovoGrad *AdaBelief *AdaBound *Adafactor *Lion *AdamP *SGDP *DiffGrad *QHAdam *Yogi",
    but="*_?*",  # functions: `make_adam`
)
# Attributes by which wrappers of an optimizer keep it.
WRAPPED_OPTIMIZERS = frozenset("optimizer _optimizer optim base_optimizer".split())
SCHEDULERS = Patterns("*sched* *LR *warmup*")
# Of torch.optim.lr_scheduler: Apex raises where it is handed one as an optimizer.
TORCH_SCHEDULERS = frozenset(
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR PolynomialLR CosineAnnealingLR "
    "CosineAnnealingWarmRestarts ChainedScheduler SequentialLR ReduceLROnPlateau CyclicLR OneCycleLR".split()
)


def steps(name: str) -> bool:
    """Whether a method of an optimizer is called as one that takes a step."""
    return _STEPS.fit(name) and not _NO_STEPS.fit(name)
