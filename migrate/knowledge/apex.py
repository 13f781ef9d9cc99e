"""Names of Apex. Source: apex/amp/__init__.py and apex/fp16_utils/__init__.py at tag 25.05."""

from __future__ import annotations

# Decorators and regions that change casts.
CASTS = frozenset("float_function half_function disable_casts".split())
# Registrations of functions of others.
REGISTRATIONS = frozenset("register_half_function register_float_function register_promote_function".split())
# What torch's own amp has not.
ONLY_AMP_OF_APEX = frozenset("initialize scale_loss master_params".split())
# What of apex.amp a rule resolves.
RESOLVED = ONLY_AMP_OF_APEX | CASTS | REGISTRATIONS
# What the module of Apex's amp has, with its files.
OF_AMP = RESOLVED | frozenset(
    "init promote_function state_dict load_state_dict _amp_state amp compat frontend handle lists opt rnn_compat "
    "scaler utils wrap _initialize _process_optimizer __version__".split()
)
# What `from apex.fp16_utils import *` brings in.
FP16_UTILS = frozenset(
    "BN_convert_float network_to_half prep_param_lists model_grads_to_master_grads master_params_to_model_params "
    "tofp16 to_python_float clip_grad_norm convert_module convert_network FP16Model FP16_Optimizer LossScaler "
    "DynamicLossScaler".split()
)
# Parts of Apex beside amp that rules replace: what current Apex no longer has, and what it still has.
DELETED_PARTS = frozenset(
    "DistributedDataParallel SyncBatchNorm convert_syncbn_model create_syncbn_process_group LARC FP16_Optimizer "
    "network_to_half Reducer ReduceOp prep_param_lists model_grads_to_master_grads master_params_to_model_params "
    "BN_convert_float convert_module convert_network tofp16 clip_grad_norm".split()
)
FUSED_PARTS = frozenset(
    "FusedAdam FusedSGD FusedAdagrad FusedLAMB FusedNovoGrad FusedLayerNorm MixedFusedLayerNorm FusedRMSNorm "
    "MixedFusedRMSNorm FastLayerNorm fused_layer_norm fused_layer_norm_affine fused_rms_norm fused_rms_norm_affine "
    "clip_grad_norm_ FusedDense MLP multi_tensor_applier multi_tensor_l2norm multi_tensor_scale multi_tensor_axpby "
    "multi_tensor_adam flatten unflatten".split()
)
# The classes of the packages that name them all, in any version.
_CLASSES = {
    "normalization": frozenset("FusedLayerNorm MixedFusedLayerNorm FusedRMSNorm MixedFusedRMSNorm".split()),
    "optimizers": frozenset(
        "FusedAdam FusedSGD FusedAdagrad FusedLAMB FusedNovoGrad FusedMixedPrecisionLamb FP16_Optimizer".split()
    ),
}
# What the classes of Apex's parts call what they are made of, their first parameter.
FIRST_PARAMETERS = frozenset(
    "params module model optimizer init_optimizer normalized_shape hidden_size num_features mlp_sizes in_features "
    "embed_dim input_size in_channels".split()
)
# Modules that only a build of Apex makes; importing one asks whether that is there.
EXTENSIONS = frozenset(
    "amp_C apex_C xentropy_cuda fused_layer_norm_cuda fast_layer_norm fused_adam_cuda syncbn focal_loss_cuda mlp_cuda "
    "fused_dense_cuda bnp distributed_adam_cuda distributed_lamb_cuda".split()
)
# Of these, those that scripts call by themselves; they count as a package of Apex's, so that names tell them apart.
BUILT = {"amp_C": "apex.built.amp_C", "apex_C": "apex.built.apex_C"}
# By which words frameworks are told to use Apex (Lightning, Hugging Face, Ignite), and at which level.
FRAMEWORK_BACKENDS = ("amp_backend", "fp16_backend", "half_precision_backend", "amp_mode")
FRAMEWORK_LEVELS = ("amp_level", "fp16_opt_level")
# Catalyst's engines, each with the native one, and what only Apex's took.
FRAMEWORK_ENGINES = {
    "APEXEngine": "AMPEngine",
    "DataParallelAPEXEngine": "DataParallelAMPEngine",
    "DistributedDataParallelAPEXEngine": "DistributedDataParallelAMPEngine",
}
ENGINE_OPTIONS = frozenset({"opt_level", "keep_batchnorm_fp32", "loss_scale"})


def of_apex(module: str) -> str | None:
    """The name that a module of Apex is known by here; None for any other module."""
    first = module.split(".")[0]
    return module if first == "apex" else BUILT.get(module)


def unknown(dotted: str) -> bool:
    """Whether a name of Apex is one of a class that it never had: ``apex.normalization.FusedProphetNetLayerNorm``."""
    words = dotted.split(".")
    known = _CLASSES.get(words[1]) if len(words) == 3 and words[0] == "apex" else None
    return known is not None and words[2][:1].isupper() and words[2] not in known
