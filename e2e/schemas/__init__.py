"""Checks toolwire against the types that the vendors publish in their SDKs. There is no gateway.

`published_fields.py` walks the types of requests and `published_answers.py` those of answers, streams
and errors; `observed_dispositions.py` and `observed_answers.py` translate each field; and
`test_dispositions.py` and `test_answer_dispositions.py` compare the outcome with the disposition tables.
"""
