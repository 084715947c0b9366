"""Checks toolwire against the request types that the vendors publish in their SDKs. There is no gateway.

`published_fields.py` walks the types, `observed_dispositions.py` translates each field, and
`test_dispositions.py` compares the outcome with the disposition table.
"""
