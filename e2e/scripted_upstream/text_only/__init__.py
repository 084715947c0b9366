"""A model that only reads and writes text, behind a server that knows nothing of tools.

`dialects.py` writes its calls as families of models do and reads them back from its prompt,
`rules.py` rejects every request that says something of tools, and `view.py` is what such a model
understands of a request.
"""

from e2e.scripted_upstream.text_only.dialects import DIALECTS
from e2e.scripted_upstream.text_only.rules import validate
from e2e.scripted_upstream.text_only.turns import spoken_turn
from e2e.scripted_upstream.text_only.view import text_view

__all__ = ["DIALECTS", "spoken_turn", "text_view", "validate"]
