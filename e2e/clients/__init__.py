"""Real SDKs and frameworks talk to a gateway that is in front of the scripted upstream.

`test_clients.py` runs every client through every scenario; `../node/test_clients.mjs` runs those in TypeScript.
"""
