"""APX033: binary cross entropy on probabilities leaves autocast; everything else stays in it."""

from __future__ import annotations

import pytest

from migrate.model import Applicability, ModuleResult, Settings, Severity

from .hazards import BACKWARD, messages, migrated, new_text, training

OFF = 'with torch.autocast("cuda", enabled=False):'
BCE = "from models import Model\ncriterion = nn.BCELoss()\n"


def grade(result: ModuleResult) -> list[str]:
    return [u.applicability.value for u in result.units]


def region(text: str) -> str:
    """The lines of the training region, without the indentation of the loop."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if "autocast(" in line and "dtype" in line)
    end = next(n for n, line in enumerate(lines) if line.startswith("    optimizer.zero_grad"))
    return "\n".join(line[4:] for line in lines[start:end])


# ---------------------------------------------------------------- what changes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("loss = F.binary_cross_entropy(out, y)", "loss = F.binary_cross_entropy(out.float(), y)"),
        ("loss = F.binary_cross_entropy(out.float(), y)", "loss = F.binary_cross_entropy(out.float(), y)"),
        ("loss = criterion(input=out, target=y)", "loss = criterion(input=out.float(), target=y)"),
        ("loss = criterion(target=y, input=out)", "loss = criterion(target=y, input=out.float())"),
        ("loss = criterion(out, y)", "loss = criterion(out.float(), y)"),
        ("loss = nn.BCELoss()(out, y)", "loss = nn.BCELoss()(out.float(), y)"),
        (
            "loss = torch.nn.functional.binary_cross_entropy(out[:, 0], y)",
            "loss = torch.nn.functional.binary_cross_entropy(out[:, 0].float(), y)",
        ),
        ("loss = criterion(1 - out, y)", "loss = criterion((1 - out).float(), y)"),
        ("loss = criterion((1 - out), y)", "loss = criterion(((1 - out).float()), y)"),
        ("loss = criterion(out, torch.ones_like(out))", "loss = criterion(out.float(), torch.ones_like(out).float())"),
        ("loss = criterion(out, y) * 0.5", "loss = criterion(out.float(), y) * 0.5"),
        ("loss = criterion(out, y).mean()", "loss = criterion(out.float(), y).mean()"),
        (
            "loss = criterion(out, y) + criterion(1 - out, x)",
            "loss = criterion(out.float(), y) + criterion((1 - out).float(), x)",
        ),
        ("loss: object = criterion(out, y)", "loss: object = criterion(out.float(), y)"),
        ("loss = sum(criterion(o, y) for o in out)", "loss = sum(criterion(o.float(), y) for o in out)"),
    ],
)
def test_statement(before: str, after: str) -> None:
    result = migrated(training(f"out = model(x)\n{before}\n", top=BCE))
    assert result.new_text is not None, [f.message for f in result.findings]
    assert region(result.new_text).splitlines()[1:] == ["    out = model(x)", f"    {OFF}", f"        {after}"]
    assert grade(result) == ["safe"]


def test_proved_float_needs_none() -> None:
    new = new_text(training("out = torch.sigmoid(model(x).float())\nloss = criterion(out, y)\n", top=BCE))
    assert f"    {OFF}\n            loss = criterion(out, y)\n" in new


def test_augmented_assignment_and_neighbours() -> None:
    new = new_text(
        training("out, aux = model(x)\nloss = criterion(out, y)\nloss += 0.4 * criterion(aux, y)\n", top=BCE)
    )
    assert region(new).splitlines()[2:] == [
        f"    {OFF}",
        "        loss = criterion(out.float(), y)",
        "        loss += 0.4 * criterion(aux.float(), y)",
    ]


def test_what_else_the_statement_computes_stays_under_autocast() -> None:
    new = new_text(
        training("out, mu = model(x)\nloss = F.binary_cross_entropy(out, y) + torch.sum(mu.exp())\n", top=BCE)
    )
    assert region(new).splitlines()[1:] == [
        "    out, mu = model(x)",
        f"    {OFF}",
        "        bce = F.binary_cross_entropy(out.float(), y)",
        "    loss = bce + torch.sum(mu.exp())",
    ]


def test_prediction_in_the_argument() -> None:
    """The model, and what autocast runs in float32, is computed on a line of its own before."""
    new = new_text(training("prediction = 0\nloss = criterion(torch.sigmoid(model(x)), y)\n", top=BCE))
    assert region(new).splitlines()[1:] == [
        "    prediction_2 = torch.sigmoid(model(x))",
        f"    {OFF}",
        "        loss = criterion(prediction_2.float(), y)",
    ]
    new = new_text(training("out = model(x)\nloss = criterion(F.softmax(out, 1)[:, 1], y)\n", top=BCE))
    assert "        prediction = F.softmax(out, 1)[:, 1]\n" in new
    assert "loss = criterion(prediction.float(), y)" in new


def test_return_in_a_method_that_is_called_from_a_region() -> None:
    top = """\
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 1)
                self.bce = nn.BCELoss()

            def forward(self, x, y):
                p = torch.sigmoid(self.fc(x))
                return self.compute_loss(p, y)

            def compute_loss(self, p, y):
                return self.bce(p, y)

    """
    new = new_text(training("loss = model(x, y)\n", top=top))
    assert f"        {OFF}\n            return self.bce(p.float(), y)\n" in new


def test_loss_module_and_parameter() -> None:
    top = """\
        from models import Model
        class DiceBCE(nn.Module):
            def forward(self, p, y):
                bce = F.binary_cross_entropy(p, y)
                return bce + dice(p, y)

        def total(p, y, fn):
            value = fn(p, y)
            return value

        both = DiceBCE()
    """
    new = new_text(training("out = model(x)\nloss = both(out, y) + total(out, y, nn.BCELoss())\n", top=top))
    assert f"        {OFF}\n            bce = F.binary_cross_entropy(p.float(), y)\n" in new
    assert f"    {OFF}\n        value = fn(p.float(), y)\n" in new


def test_alias_of_torch_and_old_versions() -> None:
    text = training("out = model(x)\nloss = criterion(out, y)\n", top=BCE)
    text = text.replace("import torch\n", "import torch as th\n").replace("torch.optim", "th.optim")
    assert 'with th.autocast("cuda", enabled=False):' in new_text(text)
    old = new_text(text, Settings(target_torch=(1, 9)))
    assert "with th.cuda.amp.autocast(enabled=False):" in old


def test_bfloat16_is_banned_too() -> None:
    text = training("out = model(x)\nloss = criterion(out, y)\n", top=BCE)
    assert OFF in new_text(text, Settings(dtype="bfloat16"))


# ---------------------------------------------------------------- what does not


@pytest.mark.parametrize(
    ("top", "body"),
    [
        ("from models import Model\n", "out = model(x)\nloss = F.binary_cross_entropy_with_logits(out, y)\n"),
        ("from models import Model\nc = nn.BCEWithLogitsLoss()\n", "out = model(x)\nloss = c(out, y)\n"),
        ("from models import Model\nc = nn.CrossEntropyLoss()\n", "out = model(x)\nloss = c(out, y)\n"),
        ("from models import Model, BCELoss\nc = BCELoss()\n", "out = model(x)\nloss = c(out, y)\n"),
        ("from models import Model, losses\nc = losses.BCELoss()\n", "out = model(x)\nloss = c(out, y)\n"),
        ("from models import Model, binary_cross_entropy\n", "out = model(x)\nloss = binary_cross_entropy(out, y)\n"),
        ("from models import Model\nname = 'nn.BCELoss'\n", "out = model(x)\nloss = F.mse_loss(out, y)  # BCELoss\n"),
        (
            "from models import Model\ndef binary_cross_entropy(p, y):\n    return F.mse_loss(p, y)\n",
            "out = model(x)\nloss = binary_cross_entropy(out, y)\n",
        ),
        (
            "from models import Model\ndef unused(p, y):\n    return F.binary_cross_entropy(p, y)\n",
            "out = model(x)\nloss = F.mse_loss(out, y)\n",
        ),
        (
            "from models import Model\n",
            "out = model(x)\nwith amp.disable_casts():\n    loss = F.binary_cross_entropy(out.float(), y)\n",
        ),
        (
            "from models import Model\n",
            "out = model(x)\nwith torch.cuda.amp.autocast(enabled=False):\n"
            "    loss = F.binary_cross_entropy(out.float(), y)\n",
        ),
    ],
)
def test_left_alone(top: str, body: str) -> None:
    result = migrated(training(body, top=top))
    assert result.new_text is not None, [f.message for f in result.findings]
    assert body.splitlines()[-1].strip() in result.new_text
    assert result.new_text.count("enabled=False") <= 1
    assert [c for c in result.changes if c.rule == "APX033"] == []
    assert grade(result) == ["safe"]


def test_outside_of_every_region() -> None:
    """A metric after the step, on numbers that never saw the model."""
    after = "z = F.binary_cross_entropy(x, y)\n"
    new = new_text(training("out = model(x)\nloss = F.mse_loss(out, y)\n", top=BCE, after=after))
    assert "    z = F.binary_cross_entropy(x, y)\n" in new and OFF not in new


def test_never_under_autocast() -> None:
    text = training("out = model(x)\nloss = criterion(out, y)\n", top=BCE).replace('"O1"', '"O0"')
    assert OFF not in (migrated(text).new_text or "")


def test_second_run() -> None:
    new = new_text(training("out = model(x)\nloss = criterion(out, y)\n", top=BCE))
    assert migrated(new).new_text is None


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    "body",
    [
        "out = model(x)\nif F.binary_cross_entropy(out, y) > 3:\n    print(1)\nloss = criterion(out, y)\n",
        "out = model(x)\nloss = criterion(model(x), y) if flag else out.sum()\n",
        "out = model(x)\nloss = sum(criterion(model(o), y) for o in x)\n",
        "out = model(x)\nloss = criterion(out, model(y))\n",
        "args = (model(x), y)\nloss = criterion(*args)\n",
        "out = model(x); loss = criterion(out, y)\n",
        "out = model(x)\nfn = lambda p: criterion(p, y) + p.exp().sum()\nloss = fn(out)\n",
    ],
)
def test_manual(body: str) -> None:
    result = migrated(training(body, top=BCE))
    assert grade(result) == ["manual"] and result.new_text is None
    found = [f for f in result.findings if f.rule == "APX091"]
    assert "binary cross entropy" in found[0].message
    assert found[0].suggestion is not None and "enabled=False" in found[0].suggestion


def test_manual_in_the_argument_of_scale_loss() -> None:
    text = training("pass\n", top=BCE).replace("scale_loss(loss,", "scale_loss(criterion(model(x), y),")
    assert BACKWARD not in text
    assert grade(migrated(text)) == ["manual"]


# ---------------------------------------------------------------- sigmoid as a float function

NET = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x))

"""
REGISTER = "amp.register_float_function(torch, 'sigmoid')\n"


@pytest.mark.parametrize(
    ("top", "changed", "loss"),
    [
        (NET, "torch.sigmoid(self.fc(x).float())", "criterion(out, y)"),
        (NET.replace("torch.sigmoid(", "nn.Sigmoid()("), "nn.Sigmoid()(self.fc(x))", "criterion(out.float(), y)"),
        (
            NET.replace("return torch.sigmoid(self.fc(x))", "return torch.sigmoid(self.fc(x)).squeeze(1)"),
            "torch.sigmoid(self.fc(x).float()).squeeze(1)",
            "criterion(out, y)",
        ),
        ("from models import Model\n", "from models import Model", "criterion(out.float(), y)"),
    ],
)
def test_registration_goes(top: str, changed: str, loss: str) -> None:
    """Only what the registration does not make float32 any more is made it for the loss."""
    body = "out = model(x)\nloss = criterion(out, y)\n"
    result = migrated(training(body, top=REGISTER + top + "criterion = nn.BCELoss()\n"))
    assert result.new_text is not None and "apex" not in result.new_text
    assert changed in result.new_text and f"loss = {loss}" in result.new_text
    assert grade(result) == ["review"]
    assert len(messages(result, "APX080", Severity.REVIEW)) == 1


def test_registration_of_a_gate() -> None:
    body = "out = model(x)\ngate = torch.sigmoid(out + 1)\nloss = criterion(out, y)\n"
    new = new_text(training(body, top=REGISTER + NET + "criterion = nn.MSELoss()\n"))
    assert "torch.sigmoid((out + 1).float())" in new and "torch.sigmoid(self.fc(x).float())" in new


@pytest.mark.parametrize(
    "register", ["amp.register_float_function(torch, 'special')", "amp.register_float_function(mine, 'sigmoid')"]
)
def test_registration_stays(register: str) -> None:
    top = f"{register}\n{NET}criterion = nn.BCELoss()\n"
    result = migrated(training("out = model(x)\nloss = criterion(out, y)\n", top=top))
    assert result.new_text is None
    assert any(register in said for said in messages(result, "APX091", Severity.MANUAL))


def test_review_only_for_the_registration() -> None:
    result = migrated(training("out = model(x)\nloss = criterion(out, y)\n", top=NET + "criterion = nn.BCELoss()\n"))
    assert [u.applicability for u in result.units] == [Applicability.SAFE]
