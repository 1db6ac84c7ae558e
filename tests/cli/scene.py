"""What the command is tested with: private servers, connections that can be cut, and terminals."""
import contextlib
import itertools
import json
import os
import pathlib
import pty
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT, PADDOCK = sys.argv[1:3]
SUPPORT = pathlib.Path(__file__).parent.parent / "support"

# Over soon, and long enough for a machine that stands still for a second.
SESSION = 5
SHORT = ["--session-timeout", f"{SESSION}s"]


# Whoever runs the tests may ignore some, as nohup(1) does: the command would, too.
for one in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(one, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def eventually(what, look, seconds=30):
    """Asks until the answer is true; a slow machine may take its time."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return seen


def same(seen, wanted):
    assert seen == wanted, f"expected {wanted!r}, but it is {seen!r}"


class Server:
    """A ZooKeeper or Redis server, which stops, and starts again with its data."""

    def __init__(self, root, kind):
        self.shell = subprocess.Popen(["sh", SUPPORT / "served.sh", root, kind], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.address, self.pid = self.answer()

    def answer(self):
        words = self.shell.stdout.readline().split()
        assert len(words) == 2, "the server does not do that"
        return words[0], int(words[1])

    def tell(self, what):
        print(what, file=self.shell.stdin, flush=True)
        self.address, self.pid = self.answer()

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
        self.shell.communicate()


class Proxy:
    """Passes connections on until they are cut: then nothing comes through, and nobody is told."""

    def __init__(self, address):
        host, port = address.split(":")
        self.target = (host, int(port))
        self.cut = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                with contextlib.suppress(OSError):
                    server = socket.create_connection(self.target)
                    for pair in ((client, server), (server, client)):
                        threading.Thread(target=self.pass_on, args=pair, daemon=True).start()

    def pass_on(self, source, to):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                while self.cut:
                    time.sleep(0.02)
                to.sendall(data)
        for one in (source, to):
            one.close()

    def close(self):
        self.listener.close()


class TlsProxy(Proxy):
    """The same server, over TLS."""

    def __init__(self, address, pair, wants=None):
        self.present(pair, wants)
        self.secured = []
        super().__init__(address)

    def present(self, pair, wants=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        if wants:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(wants)
        self.context = context

    def drop(self):
        for one in self.secured:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self.secured.clear()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        # One thread for both directions: OpenSSL allows no more.
        with contextlib.suppress(OSError), socket.create_connection(self.target) as server, \
                self.context.wrap_socket(client, server_side=True) as client:
            self.secured.append(client)
            while True:
                ready = [client] if client.pending() else select.select([client, server], [], [])[0]
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return
                    (server if one is client else client).sendall(data)


class Authority:
    """Issues certificates of localhost."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ca, self.key = self.new("ca", "-x509", "-subj", "/CN=tests")

    def new(self, name, *words):
        paths = [self.folder / f"{name}.{kind}" for kind in ("pem", "key")]
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-out", paths[0], "-keyout", paths[1], *words], check=True, capture_output=True)
        return paths

    def issue(self, name):
        """The files of a certificate, and of its key."""
        request, key = self.new(name, "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        certificate = self.folder / f"{name}.crt"
        subprocess.run(["openssl", "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key, "-copy_extensions",
                        "copy", "-out", certificate], check=True, capture_output=True)
        return certificate, key


class Terminal:
    """A program in a terminal of its own, as its foreground group."""

    def __init__(self, arguments, environment):
        self.text = b""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execvpe(arguments[0], arguments, environment)

    def read(self):
        while select.select([self.file], [], [], 0)[0]:
            try:
                data = os.read(self.file, 65536)
            except OSError:  # it has ended
                return self.text
            if not data:
                return self.text
            self.text += data
        return self.text

    def shows(self, text):
        try:
            eventually(f"the terminal shows {text!r}", lambda: text.encode() in self.read())
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.text!r}") from None

    def type(self, text):
        os.write(self.file, text.encode())

    def wait(self):
        def ended():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return (os.waitstatus_to_exitcode(status),) if pid else None

        status = eventually(f"the program in the terminal ends: {self.text!r}", ended)[0]
        self.read()
        os.close(self.file)
        return status


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(one) for one in file.read().split()]
    return []


class Scene(contextlib.ExitStack):
    """A server, and programs that use it."""

    def __init__(self, kind):
        super().__init__()
        self.names = itertools.count()
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))
        self.server = Server(ROOT, kind)
        self.callback(self.server.close)
        self.servers = ("redis://" if kind == "redis" else "") + self.server.address

    def path(self):
        return f"/locks/{next(self.names)}"

    def file(self):
        return self.folder / str(next(self.names))

    def environment(self, servers=None, **more):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PADDOCK_")}
        return {**inherited, "PADDOCK_SERVERS": servers or self.servers, **more}

    def begin(self, *arguments, servers=None, before=(), more=None, **how):
        """With a pipe for each stream, in a group of its own."""
        streams = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        return subprocess.Popen([*before, PADDOCK, *arguments], text=True, process_group=0, **{**streams, **how},
                                env=self.environment(servers, **(more or {})))

    def run(self, *arguments, **how):
        process = self.begin(*arguments, **how)
        out, err = process.communicate(timeout=60)
        process.out, process.err = out, err
        return process

    def hold(self, path, *options, command=("sh", "-c", "echo held; exec cat"), **how):
        """Returns once the command runs; it ends with its stdin."""
        process = self.begin("lock", path, *options, "--", *command, **how)
        same(process.stdout.readline(), "held\n")
        return process

    def contenders(self, path):
        return json.loads(self.run("ls", path, "--json").out)["contenders"]

    def id_of_holder(self, path):
        return str(next(one["id"] for one in self.contenders(path) if one["holder"]))

    def ticks(self, path, *options, trap=":", **how):
        """A command that writes the time into a file again and again."""
        file = self.file()
        script = f"{trap}; echo held; while :; do date +%s.%N >>{file}; sleep 0.02; done"
        return self.hold(path, *options, command=("sh", "-c", script), **how), file


def last_tick(file):
    return max(float(line) for line in file.read_text().split() if line)


def end(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def keeper_of(process):
    return eventually("the keeper runs", lambda: children(process.pid))[0]


def command_of(process):
    return eventually("the command runs", lambda: children(keeper_of(process)))[0]


def checks_of(module):
    """The functions whose argument is a scene."""
    return [one for one in module.values() if getattr(one, "__code__", None) and one.__code__.co_varnames[:1] == ("s",)]


def run_checks(checks, alone=frozenset(), kind="zookeeper"):
    """Runs those that the command line names, or all, several at once; exits if one has failed."""
    wanted = sys.argv[3:]
    checks = [one for one in checks if not wanted or one.__name__ in wanted]
    with Scene(kind) as scene:
        passed = run_all([one for one in checks if one not in alone], scene, at_once=4)
        passed = run_all([one for one in checks if one in alone], scene, at_once=1) and passed
    if not passed:
        sys.exit(1)


def run_all(checks, scene, at_once):
    """Runs every check, several at once, and says how each ended. Returns whether all passed."""
    failed = []
    lock = threading.Lock()
    waiting = list(checks)

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                check = waiting.pop(0)
            begin = time.monotonic()
            try:
                check(scene)
                verdict = "ok"
            except Exception as error:  # also of a check that is wrong itself
                verdict = f"FAILED: {type(error).__name__}: {error}"
                with lock:
                    failed.append(check)
            name = check.__name__.replace("_", " ")
            print(f"{time.monotonic() - begin:6.2f} s  {name}: {verdict}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return not failed
