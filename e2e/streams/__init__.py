"""The vendors' SDKs read every stream in vectors/streams after toolwire has translated it. There is no gateway.

`../node/test_streams.mjs` does the same with the SDKs for TypeScript.
"""
