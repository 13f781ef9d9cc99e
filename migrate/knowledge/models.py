"""Models: which names run one, which take one without running it, which are none.

Torch's own names come from torch.nn.Module and torch.Tensor; the others are habits.
"""

from __future__ import annotations

import re

from .words import Patterns

# Methods of a module that run no forward: torch's, and what projects call their own.
NOT_RUN_BY_METHOD = Patterns(
    "train eval zero_grad parameters named_parameters state_dict load_state_dict to cuda cpu half float double "
    "bfloat16 type backward modules named_modules children named_children buffers named_buffers apply requires_grad_ "
    "register_* share_memory share_memory_ compile no_sync join __*",
    "save* load* get_*lr* *learning_rate* update* step resize_* freeze* unfreeze* init_* reset_* set_* add_* print* "
    "register log* get_config config get_*param* *_grad grad_* optimizer_* *flops* *state* *config* train_* fit write "
    "flush get_num* get_*step get_*time get_*time_dict get_*name get_*names get_*size get_*dim get_*count clear_* "
    "get_*iterator get_*loader "
    "num_* no_weight_decay* metrics_to_* close is_* has_* parse* prepare* preprocess* collate* unpack* tokeniz* "
    "set_input* create_*input* create_*batch* create_*mask make_*input* make_*batch* build_*input* build_*batch* "
    "get_input_embeddings get_output_embeddings from_pretrained get_*epoch get_*epochs reset flatten_parameters "
    "sequence_mask get_metrics get_*_log partial*bn* get_*augmentation get_*transform get_*transforms get_*policies "
    "get_*optimizer get_*optimizers create_*optimizer create_*optimizers change_* enable_* disable_*",
    # the same where they are a module's own business: DistributedDataParallel's `_set_static_graph`
    "_set_* _reset_* _init_* _freeze* _unfreeze* _load* _save* _register* _print* _log_* _enable_* _disable_* "
    "*to_*data*parallel",
    # a module may be a container, and a parameter of one is a tensor
    "append extend items keys values size dim item data detach clone view view_as norm mean sum t numel copy max min "
    "pow sqrt transpose unsqueeze squeeze tolist numpy contiguous ?*_ flatten chunk masked_* reshape permute expand "
    "repeat index_select astype",
    # what is called a model may be a string, a path or a dictionary after all
    "get setdefault insert remove discard clear split rsplit splitlines format strip lstrip rstrip startswith endswith "
    "isdigit lower upper replace exists mkdir warning error debug info",
    # densities, and what comes before a softmax, are results
    but="log_prob* logprob* log_lik* loglik* log_p log_q logits* log_sm* __call__",
)
# Methods of a module that list its parameters.
PARAMETERS = frozenset({"parameters", "named_parameters"})
# Attributes of a module that are no modules.
NO_MODULE = frozenset("weight bias data grad shape device dtype config hparams cfg args opt optimizer logger".split())
# The same by habit: numbers and settings that one network takes over from another.
NO_PART = Patterns(
    "num_* n_* *_num *dim *dims dim_* *size *shape *features *channels *_ch *width *height *_scale *_mean *_std *_len "
    "*_length *_id *_ids *_idx *_index *stride *strides *config *cfg *args *opts *_mode *_name *_names name names "
    "training step steps *_step *_steps epoch *_epoch iter* max_* min_* *_rate lr device *_device *_dtype *vocab "
    "*classes labels class_* temperature is_* use_* has_* with_*",
    exact=True,
)
# Parameters of a function that hold the options of a run.
OPTIONS = frozenset("params args opt opts options config configs cfg conf hparams hps flags FLAGS".split())
# Calls that make numbers, strings and tensors; what they make is no module, whatever it may flow to.
NO_MODULE_MADE = Patterns(
    "int float str bool len range item size dim numel time keys format split join strip lower FloatTensor LongTensor "
    "Tensor tensor zeros ones empty full arange rand randn fill_ zero_ random_ normal_ uniform_ chunk tolist numpy "
    "*iterator *loader *dataset "
    "parse_args parse_known_args Namespace AttrDict EasyDict edict get_args get_config load_config *_options *_logger",
    exact=True,
)
# Methods that only a module has.
MODULE_METHODS = frozenset("parameters eval train named_parameters requires_grad_ modules".split())

# Those that list a module's parts.
LISTS_PARTS = ("children", "modules", "named_children", "named_modules")

# Dictionaries of libraries whose items are attributes, by the names that they go by.
_ATTRIBUTE_DICTS = "Munch DefaultMunch munchify EasyDict edict AttrDict AttributeDict Bunch DotMap ConfigDict DotDict"
ATTRIBUTE_DICTS = frozenset(_ATTRIBUTE_DICTS.split())

# Functions that take a model without running it.
NOT_RUN_BY_FUNCTION = Patterns(
    # Python's own
    "print len isinstance hasattr getattr setattr delattr id type str super list tuple dict deepcopy copy partial vars "
    "next iter enumerate zip map filter sum max min any all range reversed sorted cast append extend insert format "
    "join cat stack SimpleNamespace Namespace",
    _ATTRIBUTE_DICTS,
    # torch's, and wrappers
    "DistributedDataParallel DDP DataParallel *Parallel* convert_* compile script export trace *optim* *sched* Adam* "
    "SGD RMSprop Lamb broadcast* *clip* *norm_ *norm step backward eval reduce* sync* *hook* apply* prune* to_* "
    "scale_loss initialize *grad* *param* *state_dict* *checkpoint* save* load* resume* restore*",
    # the projects': what trains, builds, counts, logs or changes one
    "train* fit run_training main *Runner *Engine *Optimizer *Loader *Trainer *Saver *Wrapper *Logger *Manager "
    "*Handler *Config *summary* count_* *info* *flops* *ema* init* *init watch add_graph update* freeze* set_* log* "
    "info debug freeze* unfreeze* get_* create_* build_* make_* register* patch_* unwrap* add_* attach* delete* del_* "
    "_set_* _init_* _get_* _build_* _make_* _create_* _register* _freeze* _unfreeze* _print_* _setup* "
    "*if_wrapped Thread submit apply_async map_async starmap_async imap imap_unordered run_in_executor to_thread "
    "start_new_thread profile* print_* describe_* dump_* *_load *_save distribute*",
)
# Functions of torch that run the module they are handed.
RUN_BY_FUNCTION = frozenset("data_parallel checkpoint checkpoint_sequential functional_call update_bn".split())
# Functions of libraries that make an object of a network whose `run` evaluates it: ignite's.
MAKE_EVALUATORS = ("create_supervised_evaluator",)
# Functions of Python that run what they are handed first, one by one, when they are read.
MAPPING = frozenset("map starmap".split())
# Objects with a mode or parameters that are no networks.
_NO_NETWORK = (
    "*loss *optim* *adam* *sgd* *sched* *loader* *parser* *dataset* *tokenizer* *logger* *writer* *meter* *metric* "
    "*config* *processor *featureextractor *stopper *stopping"
)
NO_NETWORK = Patterns(_NO_NETWORK, "*ema*")
# Modules of torch without parameters.
NO_PARAMETERS = Patterns(
    "L1Loss NLLLoss PoissonNLLLoss GaussianNLLLoss KLDivLoss MSELoss BCELoss BCEWithLogitsLoss HingeEmbeddingLoss "
    "MultiLabelMarginLoss SmoothL1Loss HuberLoss SoftMarginLoss CrossEntropyLoss MultiLabelSoftMarginLoss CTCLoss "
    "CosineEmbeddingLoss MarginRankingLoss MultiMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss "
    "CosineSimilarity PairwiseDistance Dropout* *Pool?d *Pad?d Identity Flatten Unflatten Fold Unfold Upsample* "
    "PixelShuffle PixelUnshuffle Softmax* LogSoftmax Softmin ReLU ReLU6 LeakyReLU ELU SELU CELU GELU GLU SiLU Mish "
    "Sigmoid LogSigmoid Tanh Tanhshrink Hardtanh Hardswish Hardsigmoid Hardshrink Softplus Softshrink Softsign",
    exact=True,
)
# Modules of torch that are called with one tensor.
ONE_TENSOR = frozenset(
    "ReLU ReLU6 LeakyReLU PReLU ELU SELU CELU GELU GLU SiLU Mish Sigmoid LogSigmoid Tanh Hardtanh Hardswish "
    "Hardsigmoid Softplus Softsign Softmax LogSoftmax Softmin Identity Flatten".split()
)
# Functions and classes whose result is a network.
NETWORK_MADE = Patterns(
    "create_model from_pretrained resnet* resnext* wide_resnet* vgg* densenet* efficientnet* mobilenet* inception* "
    "alexnet squeezenet* shufflenet* googlenet unet* deeplab* *net *nets *model *network *networks *teacher *student "
    "*backbone *encoder *decoder *discriminator *generator *critic *transformer bert gpt2 vit_* swin_*"
)
# Networks of libraries that end in a linear layer, by the function that makes one.
CLASSIFIERS = Patterns(
    "create_model resnet* resnext* wide_resnet* vgg* densenet* efficientnet* mobilenet* alexnet squeezenet* "
    "shufflenet* googlenet inception* mnasnet* regnet* convnext* vit_* swin_* maxvit*"
)
# Calls whose result may be the network that they are of, or that a file holds.
HANDS_ON = Patterns("eval train cuda to *load* *build* *create* *make* getattr *instantiate* deepcopy")
# Functions of Python whose result holds all that a module has, by name.
BY_NAME = frozenset("globals vars locals import_module".split())
# Functions that put a network together.
BUILDS = Patterns("*create_* *build_* make_* init_* register_* setup_* convert_* __init__ __new__")
# Objects that are called as a network is, and are none: criteria and transforms, schedules, what prints and counts.
RUN_AS_OTHER = Patterns(
    "*criterion* *crit *cost* *transform* *mixup* *cutmix* *augment* *compose* *collate* *sampler* *schedul* *warmup* "
    "*lr* *timer* *accura* *evaluat* *score* *scaler* *log *print* tqdm *iter *func *function *fn *crop* *resize* "
    "*normalize* *partial* *lambda* *pool* *executor* *callback* *hook* *distance* *miner* *objective* *regulari* "
    "getattr import_module *vocab* *bpe* *codec* *sentencepiece* *process* Compose attrgetter itemgetter wraps jit "
    "script vmap grad"
)
# The same for what is called: a running average that is called is a network.
CALLED_AS_OTHER = Patterns(*RUN_AS_OTHER.patterns, _NO_NETWORK)
# Functions and methods that give a model other weights: those of a running average, of a checkpoint.
SWAPS_WEIGHTS = Patterns(
    "load_state_dict load_model load_weights load_checkpoint restore restore_* copy_to average_parameters apply_shadow "
    "apply_ema apply_averag* ema_scope swap_* use_ema* use_averag* assign_ema* vector_to_parameters",
    but="swap_axes swap_dims",
)
# Functions that make a copy or a running average of a model.
COPIES = Patterns("*averag* *swa* *ema* *copy* *clone*")
# Methods by which a model, or a part of one, is run.
FORWARDING = Patterns(
    "forward forward_?* ?*_forward module module_?* __call__ __call___?* encode encode_?* extract extract_?* "
    "feature feature_?* ?*_feature features features_?* ?*_features",
    exact=True,
)

# Methods by which models of sequences are run.
GENERATING = Patterns("generate generate_* sample sample_* predict predict_* infer infer_* inference", exact=True)

# Functions that run a model to see how good it is: `_run_evaluate_epoch`, `test2`.
_EVALUATE = "eval evaluate valid validate validation test infer inference predict generate sample".split()
_EVALUATION = re.compile(rf"_?(run_|do_)?({'|'.join(_EVALUATE)})(_.*|\d*)?", re.I)


def evaluates(name: str) -> bool:
    """Whether a function is called as one that evaluates a model."""
    return _EVALUATION.fullmatch(name) is not None
