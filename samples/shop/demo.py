"""Two shops with one stock, and customers who order from both, until a signal ends it.

    demo.py SHOP SERVERS
"""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ARTICLES = "plums", "pears", "figs"
CUSTOMERS = 7


def start(program, servers, stock, label):
    """A shop that packs each order for a second, so that queues can be seen."""
    process = subprocess.Popen(
        [program, "--listen", "127.0.0.1:0", "--servers", servers, "--stock", stock, "--label", label,
         "--packing", "1s", "--limit", "20s"], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def order_for_ever(addresses):
    while True:
        items = [{"article": article, "count": 1} for article in random.sample(ARTICLES, random.choice((1, 1, 1, 2)))]
        try:
            order = urllib.request.Request(random.choice(addresses) + "orders",
                                           json.dumps({"items": items}).encode(),
                                           {"Content-Type": "application/json"})
            urllib.request.urlopen(order, timeout=30).read()
        except (urllib.error.URLError, OSError):
            pass  # busy, or a shop has ended: the next order may be luckier
        time.sleep(random.uniform(0, 3))


def main(program, servers):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        stock = str(pathlib.Path(folder) / "stock")
        subprocess.run([program, "--stock", stock] + [word for a in ARTICLES for word in ("--put", a + "=1000000")],
                       check=True)
        shops = [start(program, servers, stock, label) for label in ("shop A", "shop B")]
        try:
            addresses = [address for _, address in shops]
            for _ in range(CUSTOMERS):
                threading.Thread(target=order_for_ever, args=(addresses,), daemon=True).start()
            print("Who holds the locks, and who waits:", *addresses)
            print("Kill a shop to see its locks pass on; Ctrl-C ends both.", flush=True)
            for process, _ in shops:
                process.wait()
        except KeyboardInterrupt:
            pass
        finally:
            for process, _ in shops:
                process.terminate()
            for process, _ in shops:
                process.wait()


main(*sys.argv[1:])
