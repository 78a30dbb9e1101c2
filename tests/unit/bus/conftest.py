from __future__ import annotations

import pytest

pytest.register_assert_rewrite("support.contracts.bus", "support.contracts.commit_log")
