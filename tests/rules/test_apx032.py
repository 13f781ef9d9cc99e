"""APX032: half results become float32 where they leave; everything else stays as it is."""

from __future__ import annotations

import pytest

from migrate.model import Applicability, Settings, Severity

from .hazards import HEAD, messages, migrated, new_text, training

CRITERION = "out = model(x)\nloss = F.cross_entropy(out, y)\n"
BFLOAT16 = Settings(dtype="bfloat16")


# ---------------------------------------------------------------- what changes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("preds.append(out.detach().cpu().numpy())", "preds.append(out.detach().float().cpu().numpy())"),
        ("preds.append(out.cpu())", "preds.append(out.float().cpu())"),
        ("np.save('o.npy', out.data.cpu().numpy())", "np.save('o.npy', out.data.float().cpu().numpy())"),
        ("total += metric(out.squeeze(1).cpu(), y.cpu())", "total += metric(out.squeeze(1).float().cpu(), y.cpu())"),
        ("a = out[:, 0].cpu().numpy()", "a = out[:, 0].float().cpu().numpy()"),
        ("a = torch.sigmoid(out).cpu().numpy()", "a = torch.sigmoid(out).float().cpu().numpy()"),
        ("a = (out * 2 + 1).cpu().numpy()", "a = (out * 2 + 1).float().cpu().numpy()"),
        ("v, i = out.max(1)\na = v.cpu().numpy()", "v, i = out.max(1)\n    a = v.float().cpu().numpy()"),
        ("v = out.topk(5)[0].cpu().numpy()", "v = out.topk(5)[0].float().cpu().numpy()"),
        ("a = out.cpu().numpy() > 0.3", "a = out.float().cpu().numpy() > 0.3"),
        (
            "every = torch.cat([out, out]).cpu().numpy()",
            "every = torch.cat([out, out]).float().cpu().numpy()",
        ),
        (
            "a = out.detach() \\\n    .cpu().numpy()",
            "a = out.detach() \\\n        .float().cpu().numpy()",
        ),
    ],
)
def test_output(before: str, after: str) -> None:
    text = training("preds, total = [], 0\n" + CRITERION, after=before + "\n")
    result = migrated(text)
    assert result.new_text is not None
    assert after in result.new_text
    assert [u.applicability for u in result.units] == [Applicability.REVIEW]
    assert len(messages(result, "APX032", Severity.REVIEW)) == 1


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (
            "outputs = model(x)\nloss = F.mse_loss(outputs.logits, y)\n",
            "a = outputs.logits.cpu().numpy()",
            "outputs.logits.float().cpu()",
        ),
        ("outputs = model(x)\nloss = F.mse_loss(outputs[0], y)\n", "a = outputs[0].cpu().numpy()", "[0].float().cpu()"),
        ("loss, logits = model(x, y)\n", "a = logits.cpu().numpy()", "logits.float().cpu()"),
        (
            "outputs = model(x)\nloss, logits = outputs[:2]\n",
            "a = logits.detach().cpu().numpy()",
            "logits.detach().float().cpu()",
        ),
        ("h, m = model(x)\nloss = F.mse_loss(h, y)\n", "a = [o.cpu() for o in (h, m)]", "[o.float().cpu() for o in"),
        (
            "out = model(x)\nkept = []\nkept.append(out)\nloss = F.mse_loss(out, y)\n",
            "a = torch.cat(kept).cpu().numpy()",
            "torch.cat(kept).float().cpu()",
        ),
    ],
)
def test_parts_of_outputs(body: str, before: str, after: str) -> None:
    assert after in new_text(training(body, after=before + "\n"))


def test_through_a_function() -> None:
    top = "from models import Model\ndef to_numpy(t):\n    return t.detach().cpu().numpy()\n"
    text = new_text(training(CRITERION, top=top, after="a = to_numpy(out)\n"))
    assert "return t.detach().float().cpu().numpy()" in text


def test_function_that_gets_labels_too() -> None:
    """``.float()`` in there would change the labels, so the half result is named."""
    top = "from models import Model\ndef to_numpy(t):\n    return t.detach().cpu().numpy()\n"
    result = migrated(training(CRITERION, top=top, after="a, b = to_numpy(out), to_numpy(y)\n"))
    assert result.new_text is not None and ".float()" not in result.new_text
    assert messages(result, "APX032", Severity.REVIEW)
    assert [u.applicability for u in result.units] == [Applicability.REVIEW]


def test_model_of_this_module() -> None:
    """What its own ``forward`` returns is known: scores, a loss, and classes."""
    top = """\
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 2)

            def forward(self, x, y):
                scores = self.fc(x)
                loss = F.cross_entropy(scores, y)
                return loss, scores, scores.argmax(1)

        """
    text = new_text(
        training(
            "loss, a, b = model(x, y)\n",
            top=top,
            after="u, v, w = loss.cpu().numpy(), a.cpu().numpy(), b.cpu().numpy()\n",
        )
    )
    assert "u, v, w = loss.cpu().numpy(), a.float().cpu().numpy(), b.cpu().numpy()" in text


def test_evaluation_function() -> None:
    text = training(CRITERION, top="from models import Model\n") + (
        "\ndef evaluate(batches):\n    preds = None\n    with torch.no_grad():\n        for x, y in batches:\n"
        "            logits = model(x)\n            if preds is None:\n                preds = logits.cpu().numpy()\n"
        "            else:\n                preds = np.append(preds, logits.cpu().numpy(), axis=0)\n    return preds\n"
    )
    new = new_text(text)
    assert new.count("logits.float().cpu().numpy()") == 2
    off = new_text(text, Settings(eval="fp32"))
    assert ".float()" not in off


# ---------------------------------------------------------------- what does not


@pytest.mark.parametrize(
    "line",
    [
        "a = out.argmax(1).cpu().numpy()",
        "a = torch.argmax(out, dim=1).cpu().numpy()",
        "a = out.max(1)[1].cpu().numpy()",
        "a = torch.max(out, 1)[1].cpu().numpy()",
        "_, p = torch.max(out.data, 1)\na = p.cpu().numpy()",
        "a = out.max(dim=1).indices.cpu().numpy()",
        "a = out.topk(5)[1].cpu().numpy()",
        "a = out.sort(1)[1].cpu().numpy()",
        "a = out.topk(5, 1)[1].t().cpu()",
        "a = (out > 0).cpu().numpy()",
        "a = out.gt(0.5).cpu().numpy()",
        "a = (out > 0).long().cpu().numpy()",
        "a = out.long().cpu().numpy()",
        "a = out.int().cpu().numpy()",
        "a = out.float().cpu().numpy()",
        "a = out.detach().float().squeeze().cpu().numpy()",
        "a = out.to(torch.float32).cpu().numpy()",
        "a = out.cpu().float().numpy()",
        "a = out.cpu().numpy().astype(np.float32)",
        "a = out.cpu().half()",
        "a = out.mean().cpu().item()",
        "a = out.cpu().tolist()",
        "a = out.cpu().numpy().tolist()",
        "a = out.cpu().argmax(1).numpy()",
        "a = np.argmax(out.cpu().numpy(), axis=1)",
        "a = float(out.mean().cpu())",
        "a = out.cpu().shape",
        "a = out.cpu() > 0.5",
        "a = out.numpy()",
        "a = out.to('cpu').numpy()",
        "a = y.cpu().numpy()",
        "a = x.detach().cpu().numpy()",
        "a = loss.detach().cpu().numpy()",
        "a = loss.data.cpu().numpy()",
        "state = {k: v.cpu() for k, v in model.state_dict().items()}",
        "model.cpu()",
        "a = unknown(y).cpu().numpy()",
        "z = torch.zeros(3).cuda()\nz += out\na = z.cpu().numpy()",
    ],
)
def test_no_output(line: str) -> None:
    result = migrated(training(CRITERION, after=line + "\n"))
    assert result.new_text is not None
    assert line.splitlines()[-1] in result.new_text
    assert [f for f in result.findings if f.rule == "APX032"] == []
    assert [u.applicability for u in result.units] == [Applicability.SAFE]


@pytest.mark.parametrize(
    "body",
    [
        "out = F.softmax(model(x), dim=1)\nloss = F.nll_loss(out.log(), y)\n",
        "out = model(x)\nout = nn.Softmax(dim=1)(out)\nloss = F.nll_loss(out.log(), y)\n",
        "out = model(x).float()\nloss = F.cross_entropy(out, y)\n",
        "out = model(x)\nout = F.log_softmax(out, 1)\nloss = F.nll_loss(out, y)\n",
        "out = criterion(model(x), y)\nloss = out\n",
    ],
)
def test_float_under_autocast(body: str) -> None:
    result = migrated(training(body, after="a = out.detach().cpu().numpy()\n"))
    assert result.new_text is not None and "a = out.detach().cpu().numpy()" in result.new_text
    assert [f for f in result.findings if f.rule == "APX032"] == []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (CRITERION, "p = decode(out)\na = p.cpu().numpy()"),
        ("out, labels = model(x)\nloss = F.cross_entropy(out, labels)\n", "a = labels.cpu().numpy()"),
        ("out = model(x)\nloss = F.cross_entropy(out[0], y)\n", "a = out['pred_ids'].cpu().numpy()"),
        ("out = model(x)\nloss = out['loss']\n", "a = {k: v.cpu() for k, v in out.items()}"),
        (CRITERION, "a = model.generate(x).cpu().numpy()"),
    ],
)
def test_uncertain(body: str, line: str) -> None:
    """Where a value may be an integer, or anything, the report names it and nothing is written."""
    result = migrated(training(body, after=line + "\n"))
    assert result.new_text is not None and ".float()" not in result.new_text
    assert len(messages(result, "APX032", Severity.INFO)) == 1
    assert messages(result, "APX032", Severity.REVIEW) == []


@pytest.mark.parametrize(
    "line",
    [
        "p = out\nif flag:\n    p = out.argmax(1)\na = p.cpu().numpy()",
        "p = y if flag else out\na = p.cpu().numpy()",
        "def log(**kw):\n    return [v.cpu() for v in kw.values()]\nlog(spread=torch.logsumexp(out, 1), lr=0.1)",
    ],
)
def test_half_on_some_way(line: str) -> None:
    """Nothing is written where another way gives something else; that it is half on one is no note but a difference."""
    result = migrated(training(CRITERION, after=line + "\n"))
    assert result.new_text is not None and ".float()" not in result.new_text
    assert len(messages(result, "APX032", Severity.REVIEW)) == 1


def test_never_under_autocast() -> None:
    text = training(CRITERION, after="a = out.cpu().numpy()\n").replace('"O1"', '"O0"')
    result = migrated(text)
    assert ".float()" not in (result.new_text or "")


def test_no_apex() -> None:
    text = HEAD.replace("from apex import amp\n", "") + "out = model(x)\na = out.cpu().numpy()\n"
    assert migrated(text).new_text is None


def test_variable_taken_for_something_else_before() -> None:
    """Flow matters: what is assigned after the use does not."""
    text = new_text(training(CRITERION, after="a = out.cpu().numpy()\nout = out.argmax(1)\nb = out.cpu().numpy()\n"))
    assert "a = out.float().cpu().numpy()" in text and "b = out.cpu().numpy()" in text


# ---------------------------------------------------------------- bfloat16


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = out.to('cpu').numpy()", "a = out.to('cpu').float().numpy()"),
        ("a = out.detach().cpu().numpy()", "a = out.detach().float().cpu().numpy()"),
        ("b = out.to('cpu')\na = b.numpy()", "a = b.float().numpy()"),
        ("a = np.argmax(out.cpu().numpy(), 1)", "a = np.argmax(out.float().cpu().numpy(), 1)"),
    ],
)
def test_bfloat16(before: str, after: str) -> None:
    new = new_text(training(CRITERION, after=before + "\n"), BFLOAT16)
    assert after in new and new.count(".float()") == 1


@pytest.mark.parametrize(
    "line", ["a = y.cpu().numpy()", "a = out.argmax(1).to('cpu').numpy()", "a = out.cpu().tolist()"]
)
def test_bfloat16_stays(line: str) -> None:
    new = new_text(training(CRITERION, after=line + "\n"), BFLOAT16)
    assert line in new and ".float()" not in new


TWO_UNITS = f"""{HEAD}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 5)

    def forward(self, x):
        return self.body(x)


netD, netG = Net().cuda(), nn.Linear(4, 5).cuda()
optD, optG = torch.optim.SGD(netD.parameters(), lr=0.1), torch.optim.SGD(netG.parameters(), lr=0.1)
netD, optD = amp.initialize(netD, optD, opt_level="O1")
netG, optG = amp.initialize(netG, optG, opt_level="O1")
for x, y in loader:
    fake = netG(y)
    loss_d = F.cross_entropy(netD(x), y) + netD(fake.detach()).pow(2).mean()
    optD.zero_grad()
    with amp.scale_loss(loss_d, optD) as scaled_loss:
        scaled_loss.backward()
    optD.step()
    loss_g = netD(fake).pow(2).mean()
    optG.zero_grad()
    with amp.scale_loss(loss_g, optG) as scaled_loss:
        scaled_loss.backward()
    optG.step()
"""


def test_what_another_units_region_holds_stays_half() -> None:
    assert ".float()" not in new_text(TWO_UNITS)


# ---------------------------------------------------------------- as a whole


def test_second_run_and_lines() -> None:
    text = training(CRITERION, after="a = out.cpu().numpy()  # keep\n")
    result = migrated(text)
    assert result.new_text is not None
    assert "a = out.float().cpu().numpy()  # keep" in result.new_text
    changed = [c for c in result.changes if c.rule == "APX032"]
    assert [text.splitlines()[c.line - 1] for c in changed] == ["    a = out.cpu().numpy()  # keep"]
    assert migrated(result.new_text).new_text is None


def test_safe_only_holds_it_back() -> None:
    result = migrated(training(CRITERION, after="a = out.cpu().numpy()\n"), Settings(safe_only=True))
    assert result.new_text is None


def test_what_is_decoded_may_hold_token_ids() -> None:
    after = "text = tokenizer.batch_decode(out)\nids = out.cpu().tolist_of(1)\n"
    result = migrated(training(CRITERION, after=after))
    assert result.new_text is not None and "out.cpu().tolist_of(1)" in result.new_text
    assert len(messages(result, "APX032", Severity.INFO)) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a, b = map(torch.Tensor.cpu, [out, x])", True),
        ("a, b = map(torch.Tensor.cpu, [loss, x])", False),
        ('a = getattr(out, "cpu")()', True),
        ('a = getattr(x, "cpu")()', False),
        ('a = getattr(out, "size")()', False),
    ],
)
def test_a_cpu_that_is_not_called_by_its_name_is_told(line: str, said: bool) -> None:
    result = migrated(training(CRITERION, after=line + "\n"))
    assert [u.applicability for u in result.units] == [Applicability.REVIEW if said else Applicability.SAFE]
    assert line in (result.new_text or "")
    assert any("leave the GPU here" in one for one in messages(result, "APX032", Severity.REVIEW)) is said


def test_the_type_of_what_left_the_gpu() -> None:
    assert "print(out.float().cpu().dtype)" in new_text(training(CRITERION, after="print(out.cpu().dtype)\n"))
