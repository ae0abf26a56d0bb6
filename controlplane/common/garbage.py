"""Python's search for garbage in a long-running process.

Now and then it looks at every object there is, while all threads of the process wait. Nearly all of
them are modules, classes and models that are there for as long as the process: some 200,000 of the
web process, 60 to 200 ms on a small machine, which was the slowest answer in twenty.
"""

import gc


def keep_what_is_loaded() -> None:
    """All that is there now is looked at by no later search; what is garbage by now goes first.

    For processes that have loaded what they will, before they serve.
    """
    gc.collect()
    gc.freeze()
