"""Claude Code and Codex, pinned in package-lock.json, against the scripted upstream through a gateway."""
