# expect: manual no import that is followed leads there
import pytest

apex = pytest.importorskip("apex")
model, optimizer = apex.amp.initialize(model, optimizer, opt_level="O1")
