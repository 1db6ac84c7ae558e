"""What the page is tested with: a ZooKeeper server, shops, orders, and programs that are no shop."""
import http.server
import json
import pathlib
import subprocess
import threading
import urllib.request

from browser import DIES_WITH_US


class Ensemble:
    def __init__(self, root):
        script = pathlib.Path(__file__).parent.parent / "support/served.sh"
        self.shell = subprocess.Popen(["sh", script, root, "zookeeper"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)
        self.address = self.shell.stdout.readline().partition(" ")[0]
        if not self.address:
            raise RuntimeError("the ZooKeeper server did not start")

    def tell(self, what):
        print(what, file=self.shell.stdin, flush=True)
        if not self.shell.stdout.readline():
            raise RuntimeError(f"the ZooKeeper server does not {what}")

    def close(self):
        self.shell.communicate()


class Shop:
    def __init__(self, program, ensemble, stock, label, packing, port=0):
        self.process = subprocess.Popen(
            [*DIES_WITH_US, program, "--listen", f"127.0.0.1:{port}", "--servers", ensemble.address, "--stock", stock,
             "--label", label, "--packing", packing, "--limit", "600s", "--session-timeout", "4s"],
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"the shop {label} did not start")
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def order(self, article):
        """In the background: its answer comes when it has had the lock."""
        items = {"items": [{"article": article, "count": 1}]}
        request = urllib.request.Request(self.url + "orders", json.dumps(items).encode(),
                                         {"Content-Type": "application/json"})

        def ask():
            try:
                urllib.request.urlopen(request).close()
            except OSError:  # the shop was killed
                pass

        threading.Thread(target=ask, daemon=True).start()

    def queue(self, article):
        with urllib.request.urlopen(self.url + "locks", timeout=30) as answer:
            for one in json.load(answer)["articles"]:
                if one["article"] == article:
                    return one["queue"]
        return []

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class NoShop:
    """Listens where a shop was: refuses every request, or begins a stream of events and says nothing."""

    def __init__(self, port, refuses):
        self.asked = threading.Semaphore(0)
        self.ended = threading.Event()
        here = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(503 if refuses else 200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.flush()
                here.asked.release()
                if not refuses:
                    here.ended.wait()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
