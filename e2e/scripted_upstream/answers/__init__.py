"""A scripted turn as each protocol writes it: the unary body, the events of its stream, and errors."""

from e2e.scripted_upstream.answers.chat import ChatEncoder
from e2e.scripted_upstream.answers.messages import MessagesEncoder
from e2e.scripted_upstream.answers.responses import ResponsesEncoder

ENCODERS = {"chat": ChatEncoder, "responses": ResponsesEncoder, "messages": MessagesEncoder}


def encoder_for(request, turn, number):
    """The encoder that writes a turn in the protocol of a request."""
    return ENCODERS[request.protocol](request, turn, number)
