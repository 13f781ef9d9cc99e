"""Patterns of names."""

from __future__ import annotations

import pytest

from migrate.knowledge import gradients, models, results
from migrate.knowledge.words import Patterns


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("step", ["step", "STEP"], ["steps", "a_step", ""]),
        ("get_*lr", ["get_lr", "get_last_lr"], ["get_lrs", "xget_lr"]),
        ("*loss", ["loss", "BCELoss"], ["loss_fn"]),
        ("*time*", ["time", "runtimes"], ["tim"]),
        ("?*_", ["add_", "__"], ["_", "add"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_patterns(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    found = Patterns(pattern)
    assert [name for name in fits + fits_not if found.fit(name)] == fits


def test_exact_patterns_mind_the_case() -> None:
    assert Patterns("*LR", exact=True).fit("StepLR") and not Patterns("*LR", exact=True).fit("lr")


def test_a_decorated_name_is_its_word() -> None:
    assert Patterns("net").fit("__net__") and not Patterns("__* ?*_").fit("__net__")
    assert Patterns("__*").fit("__len__") and not Patterns("len").fit("__len__")
    assert Patterns("__*").fit("__private") and Patterns("__*").fit("____")


def test_several_texts_are_one_set() -> None:
    assert [name for name in ("a", "b", "c", "d") if Patterns("a b", "c").fit(name)] == ["a", "b", "c"]


def test_habits() -> None:
    assert models.evaluates("_run_eval_epoch") and models.evaluates("test2") and not models.evaluates("tester")
    assert gradients.steps("critic_step") and not gradients.steps("get_step") and not gradients.steps("set_first_step")
    assert results.loss("MSELoss") and results.loss("crit") and not results.loss("losses_dict")
    assert results.integers("gt_labels") and not results.integers("labelled")
    assert results.predicted("preds") and not results.predicted("predict")


def test_a_likelihood_is_a_result_and_a_log_is_none() -> None:
    said = ["log_likelihood", "loglikeli", "logprob", "log", "log_metrics", "logger"]
    assert [name for name in said if not models.NOT_RUN_BY_METHOD.fit(name)] == said[:3]


def test_what_is_asked_of_a_network_without_running_it() -> None:
    asked = "get_augmentation partialBN get_optim_policies create_optimizers change_dataset enable_tracking".split()
    assert all(map(models.NOT_RUN_BY_METHOD.fit, asked))
    assert models.NOT_RUN_BY_FUNCTION.fit("check_if_wrapped") and not models.NOT_RUN_BY_FUNCTION.fit("run_wrapped")


def test_what_a_module_keeps_to_itself_is_called_as_what_it_shows() -> None:
    settings = ["set_epoch", "_set_static_graph", "_load_weights", "_to_dataparallel", "_to_distributed_dataparallel"]
    assert all(map(models.NOT_RUN_BY_METHOD.fit, settings))
    assert not any(map(models.NOT_RUN_BY_METHOD.fit, ["_step_forward", "_run", "_predict", "_to_logits", "_encode"]))
    assert models.NOT_RUN_BY_FUNCTION.fit("_build_optimizer") and not models.NOT_RUN_BY_FUNCTION.fit("_evaluate")
