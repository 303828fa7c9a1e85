"""Processes that are forked from one that has computed in several threads, as `multiprocessing` does."""

import subprocess
import sys

from command_line import environment

BEGINNING = """
import os, signal, sys, threading, torch
from pyropunct.inference.threads import FORK_GUARD, synchronized, in_threads

def forked(work):
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(0 if work() else 1)
    assert os.waitpid(child, 0)[1] == 0
"""

OF_TORCH = """
numbers = torch.ones(1_000_000)
torch.set_num_threads(2)
numbers.exp().sum()
forked(lambda: bool(numbers.exp().sum() > 0) and torch.get_num_threads() == 1)
forked(lambda: in_threads(lambda first, last: last, [0, 1, 2]) == [1, 2])
assert torch.get_num_threads() == 2
"""

AMONG_THREADS = """
lock, held, done = threading.Lock(), threading.Event(), threading.Event()

def work():
    with FORK_GUARD, FORK_GUARD, lock:
        held.set()
        done.wait(0.3)

def free():
    with FORK_GUARD:
        return lock.acquire(timeout=5)

for _ in range(3):
    held.clear()
    other = threading.Thread(target=work)
    other.start()
    held.wait()
    forked(free)  # waits for the other thread
    other.join()
    with FORK_GUARD:
        forked(free)  # but not for its own
"""

WITHIN_A_STORY = """
held, go = threading.Event(), threading.Event()
other = threading.Thread(target=synchronized(lambda: (held.set(), go.wait(0.3))))
other.start()
held.wait()
forked(synchronized(lambda: True))
"""


def run(script: str) -> None:
    """Run a script in a process of its own, for threads of OpenMP stay as long as a process."""
    subprocess.run([sys.executable, "-c", BEGINNING + script], env=environment(), check=True, timeout=120)


def test_a_child_does_not_wait_for_threads_of_torch() -> None:
    run(OF_TORCH)


def test_a_fork_waits_until_other_threads_have_done_their_work() -> None:
    run(AMONG_THREADS)


def test_a_fork_waits_for_the_story_of_another_thread() -> None:
    run(WITHIN_A_STORY)
