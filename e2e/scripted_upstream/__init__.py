"""A server that plays a model in all three protocols, and rejects requests as strictly as the vendors do.

`server.py` explains how to write a script. The tests in `clients/` and `agents/` run against it.
"""
