"""For tests of what goes on beside writing clients: one of those, and what is there in ZooKeeper."""

import threading


def all_below(client, path):
    found = [path]
    for name in client.get_children(path):
        found += all_below(client, f"{path}/{name}")
    return found


class Writer:
    """Writes all the time, every record acknowledged by all in-sync replicas."""

    def __init__(self, clients, topic):
        self.written = 0
        self.failures = []
        self._clients, self._topic = clients, topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            try:
                self._clients.produce(self._topic, 20)
                self.written += 20
            except Exception as error:
                self.failures.append(error)

    def stop(self):
        self._stop.set()
        self._thread.join(60)
