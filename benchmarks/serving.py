"""Requests of one sentence from many clients: requests per second, times, errors, and growth of memory.

python benchmarks/serving.py [--seconds 60] [--workers 1] [--clients 16] [--model en]

It starts `spacy-incparse serve`, sends sentences with ever new words, and compares the memory of the server's processes
after a fifth of the time with that at the end. Linux only. Exit code 1: a request failed, or the growth is above 5 %.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

PLACES = ["in the old harbour", "behind the mill", "on a wet Monday", "for two long years", "with her brother"]
VERBS = ["saw", "mended", "sold", "had painted", "wanted", "gave up", "lost"]
MOST_GROWTH = 0.05


def sentence(chance: random.Random) -> str:
    """Return a sentence with a new name and a new noun."""
    name, noun = ("".join(chance.choices("aeioubdfgklmnprst", k=8)) for _ in range(2))
    clause = f", which the {noun} of the village {chance.choice(VERBS)}," if chance.random() < 0.5 else ""
    return f"{name.capitalize()} {chance.choice(VERBS)} the green boat{clause} {chance.choice(PLACES)}."


def memory_of(process: int) -> int:
    """Return the resident bytes of a process and of all below it, in KiB."""
    found, total = [process], 0
    while found:
        one = found.pop()
        status = Path(f"/proc/{one}/status").read_text()
        total += int(status.split("VmRSS:")[1].split()[0]) if "VmRSS:" in status else 0
        for task in Path(f"/proc/{one}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return total


def ask(address: str, until: float, seed: int, times: list[float], errors: list[str]) -> None:
    """Send requests to the end, each when the last is answered."""
    chance, connection = random.Random(seed), http.client.HTTPConnection(address)
    while time.monotonic() < until:
        started = time.monotonic()
        try:
            connection.request("POST", "/v1/parse", json.dumps({"text": sentence(chance)}))
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or len(json.loads(body)["sentences"]) != 1:
                errors.append(body.decode()[:200])
        except (OSError, http.client.HTTPException, ValueError) as error:
            errors.append(repr(error))
            connection.close()
        times.append(time.monotonic() - started)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--model", default="en")
    given = parser.parse_args()
    options = ["--port", "0", "--workers", str(given.workers), "--model", given.model]
    command = [sys.executable, "-m", "spacy_incparse", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split("http://")[1].split()[0]
        try:
            wait_for(address, given.workers)
            times: list[float] = []
            errors: list[str] = []
            started = time.monotonic()
            arguments = (address, started + given.seconds)
            clients = [
                threading.Thread(target=ask, args=(*arguments, seed, times, errors)) for seed in range(given.clients)
            ]
            for client in clients:
                client.start()
            time.sleep(given.seconds / 5)
            before = memory_of(server.pid)
            for client in clients:
                client.join()
            after, seconds = memory_of(server.pid), time.monotonic() - started
        finally:
            server.terminate()
    times.sort()
    growth = after / before - 1
    print(
        f"{given.model}, {given.workers} workers, {given.clients} clients, {seconds:.0f} s: {len(times)} requests, "
        f"{len(times) / seconds:.0f}/s, median {1000 * times[len(times) // 2]:.0f} ms, "
        f"99 % below {1000 * times[len(times) * 99 // 100]:.0f} ms, {len(errors)} errors, "
        f"memory {before / 1024:.0f} -> {after / 1024:.0f} MiB ({100 * growth:+.1f} %)"
    )
    print(*errors[:3], sep="\n", end="")
    return int(bool(errors) or growth > MOST_GROWTH)


def wait_for(address: str, n_workers: int) -> None:
    """Return when the server answers, and its workers have had time to load."""
    for _ in range(300):
        try:
            connection = http.client.HTTPConnection(address, timeout=5)
            connection.request("GET", "/ready")
            connection.getresponse().read()
            time.sleep(10 * (n_workers > 1))  # the others
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


if __name__ == "__main__":
    sys.exit(main())
