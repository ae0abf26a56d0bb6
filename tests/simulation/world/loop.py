"""The event loop that one simulated process sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.simulation.world.scheduler import Handle, Scheduler

if TYPE_CHECKING:
    from tests.simulation.world.network import Network

# What a call into a worker thread takes until its answer is back on the loop.
THREAD_S = 0.0005


class _Task(asyncio.Task):  # type: ignore[type-arg]
    """Hashes by number, not by address: sets of tasks then iterate alike in every run."""

    def __init__(self, coro: Any, *, loop: HostLoop, name: str | None, number: int) -> None:
        self.number = number
        super().__init__(coro, loop=loop, name=name or f"task-{number}")

    def __hash__(self) -> int:
        return self.number


class HostLoop(asyncio.AbstractEventLoop):
    """One process. It can be paused (SIGSTOP) and killed; nothing of it runs then."""

    def __init__(self, scheduler: Scheduler, network: Network, machine: str, name: str) -> None:
        self.machine = machine
        self.name = name
        self.network = network
        self.is_dead = False
        self.is_paused = False
        self.held: list[Handle] = []
        self.on_error: Callable[[dict[str, Any]], None] = lambda _context: None
        self._scheduler = scheduler
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._numbers = 0

    # -- what happens to the process

    def kill(self) -> None:
        """No code runs here any more. Its tasks stay in memory, so that no `finally` runs."""
        self.is_dead = True
        self.held.clear()

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        """Everything that came due meanwhile happens now."""
        self.is_paused = False
        held, self.held = self.held, []
        for handle in held:
            self._scheduler.soon(handle)

    # -- asyncio's side

    def time(self) -> float:
        return self._scheduler.now_s

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        handle = Handle(self, 0.0, callback, args)
        self._scheduler.soon(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        handle = Handle(self, when, callback, args)
        self._scheduler.later(handle)
        return handle

    def call_later(self, delay: float, callback: Any, *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        return self.call_at(self._scheduler.now_s + delay, callback, *args)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Any = None) -> Any:  # type: ignore[override]
        self._numbers += 1
        number = self._numbers
        task = _Task(coro, loop=self, name=name, number=number)
        self._tasks[number] = task
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: Any) -> None:
        self._tasks.pop(task.number, None)
        if not task.cancelled() and task.exception() is not None:
            self.call_exception_handler(
                {"message": f"task {task.get_name()}", "exception": task.exception(), "task": task}
            )

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        future = self.create_future()

        def work() -> None:
            try:
                result = func(*args)
            except Exception as error:
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(result)

        self.call_later(THREAD_S, work)
        return future

    async def create_connection(self, factory: Any, host: Any = None, port: Any = None, **_: Any):
        return await self.network.connect(self, factory, host, port)

    async def create_server(self, factory: Any, *_: Any, sock: Any = None, **__: Any) -> Any:
        return self.network.listen(self, factory, sock)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self.is_dead:
            self.on_error(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.call_exception_handler(context)

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False
