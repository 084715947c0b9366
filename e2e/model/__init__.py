"""A real model, small enough for a test, behind a gateway. requirements-model.txt pins it."""
