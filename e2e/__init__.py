"""Tests against the vendors' types, SDKs and agents. README.md says what runs against what."""
