"""Processes that a test starts."""

import subprocess


def stop(process):
    """Ends a process, by force if it takes longer than five seconds."""
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
