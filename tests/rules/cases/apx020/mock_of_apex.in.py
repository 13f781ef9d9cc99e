# a test of something that could use apex
import sys
from unittest import mock

sys.modules["apex"] = mock.MagicMock()
sys.modules["apex.amp"] = mock.MagicMock()
