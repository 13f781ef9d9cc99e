"""Names of results: losses, what is computed in float32, what holds integers. Habits."""

from __future__ import annotations

import re

from .words import Patterns, parts

# Calls that compute on results in a way that autocast's lists matter for.
FLOAT_WORK = Patterns(
    "*loss* *criterion* *crit* *softmax* *sigmoid* log* *exp* *entropy* *mse* *norm* F *functional* *ctc* *kl_div*"
)
# Words of a name that holds a floating result: `q_dense`, `local_ctx_vectors`, `text_emb`.
_FLOATING = frozenset(
    "dense emb embs embed embeds embedding embeddings rep reps repr representation representations vec vecs vector "
    "vectors feat feats feature features logit logits score scores prob probs hidden pooled".split()
)
# Words of a name that holds integers: `gt_labels`, `input_ids`.
_INTEGERS = frozenset(
    "id ids idx idxs ind inds indices index label labels target targets gt gts mask masks len lens length lengths "
    "token tokens num count truth".split()
)
# Words of what a model hands back beside its outputs: predicted classes, paths of a decoder.
_PREDICTED = frozenset(
    f"{pred}{s}" for pred in ("pred", "prediction", "predicted") for s in ("", "s")
) | frozenset("path paths seq seqs tag tags decoded correct corrects acc hits cnt".split())
# A loss, unless what follows says that it is something about one: `loss_weight`, `losses_dict`.
_LOSS = re.compile(r"criterion|(^|_)crit(_|$)|loss(?!e?s?_?(weight|scale|dict|name))", re.I)


def loss(name: str) -> bool:
    """Whether a function or layer is called as one that computes a loss."""
    return _LOSS.search(name) is not None


def makes_loss(name: str) -> bool:
    """The same, and the losses of torch that are not called one."""
    return loss(name) or "entropy" in name or name == "kl_div"


def integers(name: str) -> bool:
    """Whether a variable is called as one that holds integers."""
    return not _INTEGERS.isdisjoint(parts(name))


def predicted(name: str) -> bool:
    """Whether a variable is called as one that holds predicted classes."""
    return not _PREDICTED.isdisjoint(parts(name))


def floating(name: str) -> bool:
    """Whether a variable is called as one that holds a floating result, and nothing in its name says otherwise."""
    return not _FLOATING.isdisjoint(parts(name)) and not integers(name) and not predicted(name)
