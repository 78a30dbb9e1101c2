"""The root of every error this package raises on purpose.

```
HarnessError
├── log.LogDamagedError, LogRuleError, LogLockedError, SessionNotFoundError, ...
├── models.ModelError
│   └── models.ScriptError
├── tools.ToolError
├── mcp.McpServerError
└── settings.SettingsError
```
"""

from __future__ import annotations


class HarnessError(Exception):
    """Something the harness can name: its text says what happened and what to do about it."""
