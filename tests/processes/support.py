"""Programs in processes of their own, which are ended when they hang."""

import os
import signal
import sys
import traceback
import warnings

import armarius


def in_a_fork(work, seconds=30):
    """What `work` answers (as text) in a child made by `os.fork`; a child that hangs is killed and raises."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 and later warn of any fork beside threads
        child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(seconds)  # its default is to end the process, whatever it waits for
        try:
            said = f"ok:{work()}"
        except BaseException:
            said = f"failed:{traceback.format_exc()}"
        os.write(write, said.encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise TimeoutError(f"the child hung and was ended after {seconds} s")
    state, _, answer = said.partition(":")
    assert state == "ok", answer
    return answer


def environment(**more):
    """Of a child that imports what this process imports."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **more}


def open_and_ask(root):
    """How many paragraphs of the project name 白鹭; for processes that import it by name."""
    with armarius.open(root, watch=False) as engine:
        return len(engine.search("白鹭", limit=99))
