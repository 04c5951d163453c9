"""Callers that write as fast as the daemon answers."""
import random
import threading

from .client import Unanswered
from .programs import Failed


class Writers:
    """One thread with its own connection for each seed, until `stop` or the end of the daemon.

    `ledgers` is a list of ledgers to write to, with their shares of the writes.
    """

    def __init__(self, daemon, ledgers, seeds, padding=0):
        self.stopping = threading.Event()
        self.error = None
        self.answers = threading.Semaphore(0)
        self.threads = [
            threading.Thread(target=self._run, args=(daemon, ledgers, random.Random(seed), padding), daemon=True)
            for seed in seeds]
        for thread in self.threads:
            thread.start()

    def _run(self, daemon, ledgers, chance, padding):
        client = daemon.client()
        try:
            while not self.stopping.is_set():
                ledger = chance.choices([ledger for ledger, _ in ledgers], [share for _, share in ledgers])[0]
                if ledger.write(client, chance, padding) is not None:
                    self.answers.release()
        except Unanswered:
            pass  # the daemon is gone
        except Exception as error:  # raised again by `stop`
            self.error = error
        finally:
            client.close()

    def await_answers(self, count, within=30.0):
        """Returns after `count` more answers, or when all writers have ended."""
        for _ in range(count):
            while not self.answers.acquire(timeout=0.05):
                if not any(thread.is_alive() for thread in self.threads):
                    return
                within -= 0.05
                if within < 0:
                    raise Failed("the writers were not answered")

    def stop(self):
        """Returns when all threads have ended."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        if self.error:
            raise self.error
