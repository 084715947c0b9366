"""The commands in README.md and docs/, run as they are written."""
