"""What the judge takes names to mean where the code behind them is not here."""

from __future__ import annotations

import re
import sys

# Functions of torch that are losses.
LOSSES = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss kl_div binary_cross_entropy_with_logits "
    "cosine_embedding_loss ctc_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss huber_loss "
    "multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss soft_margin_loss triplet_margin_loss "
    "gaussian_nll_loss".split()
)
# Functions of torch that run the module they are handed.
RUNS_MODEL = frozenset("checkpoint data_parallel checkpoint_sequential functional_call".split())
# Optimizers of torch.
OPTIMIZERS = frozenset("Adadelta Adagrad Adam AdamW Adamax ASGD NAdam RAdam RMSprop Rprop SGD SparseAdam".split())
# Words in the name of a function that reads or changes gradients.
READERS = ("clip_grad", "grad_norm", "clip_norm", "clip_value", "clip_gradient", "gradient_norm", "gradient_clip",
           "gradient_noise", "clip_master", "all_reduce_grad", "allreduce_grad", "average_grad", "reduce_grad")
# Words that such a name may hold although the function reads no gradient.
IDLE = ("zero", "requires", "no_grad", "enable_grad")
# A class of a network in whose text one of these stands trains itself: it is no mere network.
TRAINING = (".backward(", "scale_loss", ".initialize(", "GradScaler", "zero_grad(", ".step(")
# Functions that hand back what they are given, methods that hand back their object, and functions whose result hangs on
# what they are given alone.
WRAPPERS = frozenset(
    "DistributedDataParallel DDP DataParallel convert_syncbn_model convert_sync_batchnorm compile bool "
    "BalancedDataParallel list tuple proxy".split()
)
SELF_METHODS = frozenset("cuda to cpu train eval".split())
PURE = frozenset("getattr hasattr isinstance len int str max min".split())
# Methods of words, with how many arguments each has: what they give depends on nothing else.
OF_WORDS = {"startswith": 1, "endswith": 1, "lower": 0, "upper": 0, "strip": 0}
# Words in the name of a function that says whether a package is there.
ASKS = re.compile("available|installed|importable|has_module|has_package")
# Methods of a GradScaler that have a part in training.
SCALER_METHODS = frozenset("scale unscale_ step update get_scale state_dict load_state_dict is_enabled".split())
# Functions that only collect or count what they are handed.
COLLECTS = frozenset("list tuple iter enumerate len filter sorted zip set next sum chain reversed".split())
# Modules whose functions do not raise where training goes on.
LIBRARIES = sys.stdlib_module_names | frozenset("torch torchvision torchaudio numpy tqdm transformers apex".split())
# Kinds of calls by which losses are scaled, gradients are made and steps are taken.
PROTOCOL = frozenset({"backward", "gradients", "step", "scaler", "zero", "amp", "entered"})
# Handlers of these alone are not for an exception of which nothing is known: it comes from a model, or a raise.
NOT_ANY = frozenset(
    "ImportError ModuleNotFoundError KeyboardInterrupt StopIteration AttributeError KeyError NameError OSError "
    "FileNotFoundError".split()
)
