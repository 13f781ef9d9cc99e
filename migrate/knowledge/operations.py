"""Operations of torch: in what type they run under autocast, and what they hand back.

Source: ATen/autocast_mode.h of torch 2.11 and apex/amp/lists at tag 25.05. `tests/knowledge` holds the
lists to what both were seen to do (compare/policy), and names where they say something else on purpose.
"""

from __future__ import annotations

# ---------------------------------------------------------------- what autocast casts

# Run in half: the products and convolutions.
_PRODUCTS = frozenset("matmul mm mv bmm einsum addmm baddbmm linear conv1d conv2d conv3d conv_transpose2d".split())
_RARE_PRODUCTS = frozenset(
    "addmv addr addbmm chain_matmul multi_dot prelu conv_transpose1d conv_transpose3d conv_tbc "
    "scaled_dot_product_attention".split()
)
# Run in float32.
_EXPONENTIALS = frozenset("exp expm1 log log10 log2 log1p pow softplus".split())
_SUMS = frozenset("sum prod cumsum cumprod norm logsumexp".split())
_SOFTMAX = frozenset("softmax log_softmax".split())
_NORMALIZATIONS = frozenset("layer_norm group_norm cosine_similarity".split())
_DISTANCES = frozenset("dist cdist pdist".split())
_FLOAT32 = _EXPONENTIALS | _SUMS | _SOFTMAX | _NORMALIZATIONS

# Those of one tensor, which hand back its type where nothing casts.
OF_ONE = _EXPONENTIALS | _SUMS | _SOFTMAX

# Functions that native autocast casts as a registration with Apex (amp.register_half_function …) asked for.
NATIVE_HALF = _PRODUCTS | _RARE_PRODUCTS
NATIVE_FLOAT = (
    _FLOAT32
    | _DISTANCES
    | frozenset("acos asin cosh erfinv reciprocal rsqrt sinh tan renorm".split())
    | frozenset(
        "nll_loss kl_div l1_loss smooth_l1_loss mse_loss margin_ranking_loss soft_margin_loss triplet_margin_loss "
        "multi_margin_loss binary_cross_entropy_with_logits".split()
    )
)

# Those of one tensor, their first argument, that autocast runs in the type they are handed: with float32 in its place
# they do as amp.register_float_function had it.
AS_HANDED = frozenset(
    "sigmoid tanh relu leaky_relu elu selu silu gelu hardtanh mean std var sqrt dropout "
    "avg_pool1d avg_pool2d adaptive_avg_pool2d batch_norm".split()
)
# Those that autocast, or torch itself, runs in the widest type they are handed, as amp.register_promote_function
# had it.
NATIVE_PROMOTE = frozenset(
    "addcdiv addcmul atan2 bilinear cross dot cat stack add sub mul div true_divide where maximum minimum".split()
)

# What O1 ran in float32, and native autocast leaves alone outside of its regions: of torch and of a tensor, …
O1_FLOAT = (
    frozenset("exp expm1 log log10 log2 pow sum prod cumsum cumprod norm dist std var".split())
    | frozenset("acos asin cosh erfinv reciprocal rsqrt sinh tan renorm".split())
)  # fmt: skip
# … of torch.nn.functional (without those that only lose a little precision: interpolate, grid_sample, gelu, …) …
O1_FLOAT_FUNCTIONAL = frozenset(
    "softmax log_softmax softmin softplus normalize cosine_similarity cross_entropy nll_loss kl_div l1_loss mse_loss "
    "smooth_l1_loss binary_cross_entropy_with_logits".split()
)
# … as layers …
O1_FLOAT_LAYERS = frozenset("Softmax LogSoftmax Softmin Softplus CosineSimilarity".split())
# … and, of those, what takes two results of a model.
O1_PAIRS = frozenset("cosine_similarity kl_div l1_loss mse_loss smooth_l1_loss".split())
# Of both, those that give no integers: they take none, or make float32 of them as a cast before would.
NO_INTEGERS = (O1_FLOAT - frozenset("pow sum prod cumsum cumprod dist renorm".split())) | (
    O1_FLOAT_FUNCTIONAL - frozenset("l1_loss mse_loss smooth_l1_loss".split())
)
# What an autograd function's own backward computes in half precision, be it in a model that it runs anew.
BACKWARD_PRODUCTS = NATIVE_HALF | {"enable_grad"}
# Products of two, which O1 ran in half; natively, outside of a region, both have to be of one type.
O1_PRODUCTS = frozenset("matmul mm mv bmm".split())
# What O1 ran in the wider type of two; natively, outside of a region, both have to be of one type as well.
O1_OF_ONE_TYPE = O1_PRODUCTS | {"dot"}
# All that O1 ran in half, wherever in the process it was called.
O1_HALF = NATIVE_HALF - frozenset("einsum chain_matmul multi_dot scaled_dot_product_attention prelu".split())
# … of these, methods of a tensor.
O1_HALF_METHODS = O1_PRODUCTS | frozenset("addmm addmv addr addbmm baddbmm".split())
# Methods after which a tensor is not half, whatever it was.
WIDENS = frozenset("float double".split())
# Variances, and all that comes out in half under autocast where O1 gave float32: of a half tensor, and of a float32
# one.
SPREADS = frozenset("std var".split())
HALF_NOT_FLOAT = SPREADS | frozenset("gelu grid_sample".split())
HALF_NOT_FLOAT_LAYERS = {"GELU": "gelu"}
# What O1 ran in float32, and autocast in the type that comes in: the function and the layer.
RESPONSE_NORM, RESPONSE_NORM_LAYER = "local_response_norm", "LocalResponseNorm"
# Of torch alone: other things are called so as well. These take two tensors, the others one.
MULTIPLY_TWO = frozenset("vecdot tensordot inner".split())
MULTIPLY_WITHIN = frozenset("cov corrcoef matrix_power pinv".split()) | MULTIPLY_TWO
HALF_NOT_AS_GIVEN = frozenset("einsum chain_matmul multi_dot scaled_dot_product_attention".split()) | MULTIPLY_WITHIN
# The product that O1 patched under another name alone: of torch.linalg.
LINALG_PRODUCT = "matmul"
# What comes out in float32 under autocast where O1 left the type as it was given; the first two as a tensor's methods
# and of torch itself, not of torch.nn.functional.
FLOAT_NOT_AS_GIVEN = frozenset("softmax log_softmax log1p logsumexp cdist pdist".split())
# Methods that put what they are handed into a tensor, which has to be of its type; autocast promotes for `scatter_add`
# and `index_put`.
STORES = frozenset(
    "scatter scatter_ scatter_add_ scatter_reduce scatter_reduce_ index_add index_add_ index_copy index_copy_ "
    "index_put_ masked_scatter masked_scatter_ lerp_".split()
)
# How `x += self.bias` is called, whose result autocast leaves in the type of `x`.
IN_PLACE = "+="
# How `x.masked_fill(mask, -1e9)` is called, whose value float16 has none for.
FAR_FILL = "masked_fill"
FILLS = frozenset("masked_fill masked_fill_ fill_diagonal_ index_fill index_fill_".split())
LARGEST_HALF = 65504.0
# Arithmetic with a tensor without dimensions, and what can be asked of one that leaves it so.
BESIDE_NUMBER = "*"
OF_NUMBERS = frozenset("exp log sqrt abs clamp clamp_ sigmoid tanh detach cuda to clone float softplus".split())
# Those that are added in place, which autocast does not cast.
PRODUCTS_IN_PLACE = frozenset("addmm_ addmv_ addr_ addbmm_ baddbmm_".split())

# Names, of functions and of layers, under which a result is half (float32) because autocast is on.
HALF_RESULTS = _PRODUCTS | {"dot"}
FLOAT_RESULTS = (
    _FLOAT32
    | _DISTANCES
    | frozenset("softmin reciprocal cross_entropy binary_cross_entropy binary_cross_entropy_with_logits kl_div".split())
    | frozenset("Softmax LogSoftmax CrossEntropyLoss CosineSimilarity".split())
)
# Functions that autocast casts whoever calls them, and O1 where they were called as torch's, not by a name that a
# program took before.
CAST_BY_AUTOCAST = O1_HALF | NATIVE_FLOAT | frozenset("cross_entropy softmin".split())
# Those that leave a prediction for binary cross entropy behind.
FLOAT_PREDICTIONS = _FLOAT32 | {"softmin", "Softmax"}

# ---------------------------------------------------------------- what type the others hand back

# The type that comes in.
KEEP = frozenset(
    "detach data squeeze unsqueeze view view_as reshape flatten unflatten permute transpose t swapaxes contiguous "
    "clone cuda cpu expand expand_as repeat repeat_interleave chunk split unbind index_select gather take "
    "masked_select narrow select roll flip mean sigmoid sigmoid_ tanh relu relu_ leaky_relu elu gelu hardtanh "
    "selu silu dropout abs clamp clamp_ clip sqrt square neg round floor ceil sign pad interpolate upsample "
    "grid_sample normalize pixel_shuffle avg_pool2d max_pool2d adaptive_avg_pool2d adaptive_max_pool2d max_pool1d "
    "avg_pool1d std var zeros_like ones_like rand_like randn_like full_like empty_like new_zeros new_ones "
    "new_full tril triu requires_grad_ half bfloat16 atleast_1d nan_to_num amax amin median quantile batch_norm "
    "instance_norm Sigmoid Tanh ReLU LeakyReLU Upsample Dropout Flatten Identity diagonal diag masked_fill "
    "fill_diagonal_ detach_ pin_memory values list tuple reversed iter copy deepcopy index_fill scatter movedim "
    "rearrange roi_align".split()
)
# That of the tensor among what comes in: what all processes have of it.
ACROSS = frozenset("mesh_reduce allreduce allgather all_gather gather_for_metrics nested_concat".split())
# The widest that comes in.
PROMOTE = frozenset(
    "add sub mul div true_divide add_ sub_ mul_ div_ lerp where addcmul addcdiv maximum minimum".split()
)
JOIN = frozenset("cat stack hstack vstack concat concatenate".split())
# Values with the type that comes in, beside their indices.
PAIR = frozenset("topk sort max min kthvalue mode".split())
# No floating tensor, or one of a type that autocast does not decide.
INTEGER = frozenset(
    "argmax argmin argsort long int bool byte short char eq ne gt ge lt le nonzero multinomial isnan isinf "
    "isfinite any all size dim numel item tolist numpy bincount searchsorted equal allclose len range str repr "
    "isinstance hasattr id type print format zeros ones empty full arange tensor as_tensor from_numpy randn rand "
    "randint randperm eye linspace logical_and logical_or logical_not argwhere count_nonzero is_tensor backward "
    "one_hot logical_xor".split()
)
# float32 where no type is asked for.
CREATE = frozenset("zeros ones empty randn rand eye linspace".split())
# The type of the tensor they are made like.
LIKE = frozenset("ones_like zeros_like full_like empty_like rand_like new_ones new_zeros new_full".split())
# Those of numpy that make float64 where no type is asked for, and those that give the type of what they are handed.
NUMPY_DOUBLES = frozenset(
    "rand randn random normal uniform standard_normal random_sample zeros ones linspace eye".split()
)
NUMPY_SAME = frozenset(
    "array asarray stack concatenate vstack hstack transpose reshape clip abs sqrt exp log sin cos tile repeat squeeze "
    "expand_dims copy ascontiguousarray float64 mean std".split()
)
# Those of torch that keep the type of an array.
FROM_NUMPY = frozenset("from_numpy as_tensor tensor".split())
# Functions of torch that no list of casts reaches: what they give is the same under autocast and without it.
NO_CASTS = (
    JOIN
    | PAIR
    | CREATE
    | LIKE
    | (INTEGER - {"backward"})
    | frozenset(
        "squeeze unsqueeze reshape flatten permute transpose t clone chunk split unbind index_select gather take "
        "masked_select narrow select roll flip repeat_interleave tril triu diagonal diag movedim clamp abs neg round "
        "floor ceil sign where masked_fill pad one_hot relu dropout unfold fold pixel_shuffle".split()
    )
)
# Attributes of a tensor that are no floating result.
ATTRIBUTES = frozenset("shape device dtype is_cuda grad grad_fn requires_grad ndim names layout __class__".split())

# ---------------------------------------------------------------- what does not mind half

# Methods behind `.cpu()` that change no number.
SAME_NUMBERS = frozenset(
    "detach data squeeze unsqueeze view reshape flatten permute transpose t contiguous clone numpy cpu T copy".split()
)
# Layers that multiply what they are handed with their weights, which has to be of the same type.
WEIGHING = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM GRU RNN Sequential "
    "MultiheadAttention".split()
)
# Those behind which the type no longer matters.
TYPE_FORGOTTEN = frozenset(
    "float double half item tolist argmax argmin argsort long int bool byte short size dim numel shape ndim device "
    "dtype isnan isinf isfinite nonzero nelement is_cuda __len__".split()
)
TYPE_FORGOTTEN_BY_FUNCTION = frozenset(
    "float int bool len argmax argmin argsort isnan isinf shape isinstance type".split()
)
# Types, as `.to()` and `.astype()` name them, in which a half is no longer one.
NO_HALF_TYPES = frozenset("float32 float64 float double int64 int32 long int uint8".split())

# ---------------------------------------------------------------- what writes into its owner

_CONTAINER_WRITES = frozenset("append extend add insert".split())
CONTAINER_WRITES = _CONTAINER_WRITES | {"appendleft"}
OWNER_WRITES = _CONTAINER_WRITES | frozenset("update setdefault add_ mul_ div_ sub_ copy_".split())
