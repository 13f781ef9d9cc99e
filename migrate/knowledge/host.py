"""Work on the host, and on data: names of what autocast does not matter for."""

from __future__ import annotations

from .words import Patterns

# Calls that move, shape or make data, and work on scalars: no reason for a region.
NO_COMPUTATION = frozenset(
    "to cuda cpu item items keys values get detach clone size dim view reshape flatten squeeze unsqueeze permute "
    "transpose contiguous expand repeat mean len range zip int float str bool Variable tuple list dict set enumerate "
    "next iter min max round isinstance print append extend time perf_counter numpy tensor rand randn randint zeros "
    "ones empty full zeros_like ones_like rand_like randn_like from_numpy as_tensor FloatTensor LongTensor Tensor "
    "arange type type_as long requires_grad_ update format join tolist t device pop copy split chunk no_grad any all "
    "isnan isfinite numel normal_ uniform_ resize_ copy_ fill_ data synchronize Event record permutation random "
    "sample choice uniform beta detach_ masked_fill masked_select index_select narrow unbind".split()
)
# Work with results: no reason to make a region longer.
HOST_WORK = Patterns(
    "*log *logger *save* *write* *print* *append* *update* *decode* *accuracy* *metric* *meter* *argmax* *topk* "
    "*reduce* *gather* *to_list* *tolist* *item *items *numpy* *dump* *record* *format* *postprocess* *convert* "
    "*name* *path* *file* *image* *add_* *tqdm* *time* *getattr* *hasattr*"
)
# Functions that write or read checkpoints.
CHECKPOINTS = Patterns("*save* *load* *resume* *restart* *restore* *checkpoint* *ckpt*")
# What may take a model or an optimizer before amp does.
BEFORE_INITIALIZE = Patterns("*load* *save* *checkpoint* *sched*")
# Work of the host that a reader would not look for under autocast: telling people, …
TELLS = frozenset(
    "print pprint __next__ next add_scalar add_scalars add_image add_images add_histogram add_text set_description "
    "set_description_str set_postfix set_postfix_str".split()
)
# … whose whole purpose is to tell, or that know nothing of tensors, …
WATCHERS = frozenset(
    "logger logging _logger LOGGER TB_LOGGER tb_logger writer tb_writer pbar progress_bar wandb os sys json".split()
)
# … and moving data.
OF_NOTE = TELLS | frozenset("to cuda cpu from_numpy synchronize".split())
# What gives the same under autocast and not: it saves, joins, sorts, counts and converts, or looks at text.
UNTOUCHED = frozenset(
    "save dump makedirs mkdir exists dirname basename join stack cat topk sort argsort argmax argmin eq ne bincount "
    "half float double bfloat16 startswith endswith split strip lower upper".split()
)
# Modules whose functions work on paths, text, Python's numbers and arrays: casts do not reach them.
HOST_MODULES = frozenset("os np numpy math json re sys logging logger time random shutil pickle datetime".split())
# Libraries that make arrays, pictures, sounds, tables and plots, and no networks of torch.
NO_NETWORK_LIBRARIES = frozenset(
    "cv2 PIL pandas scipy skimage imageio h5py lmdb librosa soundfile matplotlib seaborn yaml nltk tensorboardX".split()
)
# Functions of Python whose result is a number or a text.
GIVES_VALUES = frozenset("int float bool str bytes len abs round sum divmod ord chr hash id range repr".split())
# Context managers that say nothing about casts.
NEUTRAL_CONTEXTS = frozenset(
    "no_grad enable_grad set_grad_enabled inference_mode no_sync suppress nullcontext record_function".split()
)

# Calls that look at what they are handed and call none of it.
CALLS_NOTHING = frozenset(
    "len print isinstance callable id repr str type hasattr dict list tuple set sorted reversed zip enumerate iter "
    "next items values keys get append add setdefault update wraps update_wrapper signature super issubclass".split()
)

# Calls that have another thread run what they are handed: of threading, and, as methods, of pools.
STARTS_THREADS = frozenset("Thread Timer start_new_thread to_thread".split())
POOL_METHODS = frozenset(
    "submit apply_async map_async starmap_async run_in_executor to_thread map imap imap_unordered starmap".split()
)
