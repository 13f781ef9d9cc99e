"""The dtype policy of every op: what Apex O1 and native autocast make of it, found without a GPU.

`table.policy_table` is the entry point; `docs/policy.md` says how the probe works and how to read the table.
"""

from __future__ import annotations
