"""A loss that is scaled for an optimizer which one script hands over and another one does not."""

from __future__ import annotations

from migrate.linked import migrate_linked
from migrate.model import FileText, Settings

ATTACK = """\
import torch
import torch.nn.functional as F
from apex import amp


def attack(model, x, y, opt=None):
    delta = torch.zeros_like(x)
    delta.requires_grad = True
    loss = F.cross_entropy(model(x + delta), y)
    if opt is not None:
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    return GRADIENT


def measure(model, loader):
    for x, y in loader:
        print(attack(model, x, y).sum().item())
"""
SCRIPT = """\
import torch
from apex import amp
from attacks import attack, measure

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    PERTURB
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
measure(model, loader)
"""
SIGN = "delta.grad.sign().detach()"
HANDED = "x = x + attack(model, x, y, optimizer)"


def _texts(*perturb: str, gradient: str = SIGN) -> list[str | None]:
    files = [FileText(ATTACK.replace("GRADIENT", gradient), name="attacks.py")]
    for number, line in enumerate(perturb):
        links = {"attacks": 0}
        files.append(FileText(SCRIPT.replace("PERTURB", line), name=f"train{number}.py", links=links))
    return [result.new_text for result in migrate_linked(files, Settings())]


def test_a_script_that_hands_over_no_optimizer_is_migrated_with_one_that_does() -> None:
    attacks, plain, fast = _texts("pass", HANDED)
    assert attacks is not None and plain is not None and fast is not None
    assert not any("apex" in text for text in (attacks, plain, fast))
    assert "def attack(model, x, y, opt=None, scaler=None):" in attacks
    assert "attack(model, x, y, optimizer, scaler)" in fast


def test_an_attack_that_was_not_scaled_is_not_scaled() -> None:
    attacks = _texts("pass", HANDED)[0]
    assert attacks is not None
    scaled = "    if opt is not None:\n        scaler.scale(loss).backward()\n"
    plain = "    else:\n        loss.backward()\n"
    assert scaled + plain in attacks


def test_one_that_is_always_handed_something_else_stays() -> None:
    assert _texts("attack(model, x, y, torch.optim.SGD(model.parameters(), lr=1.0))") == [None, None]
