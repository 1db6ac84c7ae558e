"""A headless Chromium, by the WebDriver protocol."""
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # what the protocol calls a reference to one
# Should this process be killed, the kernel ends those that it has started; the browser ends with the driver's pipe.
DIES_WITH_US = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
             "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe"]


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen([*DIES_WITH_US, "chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.session = None
        line = ""
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                break
        else:
            raise RuntimeError(f"chromedriver ends: {line}")
        self.url = f"http://127.0.0.1:{found[1]}/session"
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"args": ARGUMENTS}, "timeouts": {"script": 300_000}}
        self.session = self.ask("", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def close(self):
        try:
            if self.session:
                self.ask("", method="DELETE")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def ask(self, path, body=None, method="POST"):
        url = self.url + (f"/{self.session}" if self.session else "") + path
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=310) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"]) from None

    def open(self, url):
        self.ask("/url", {"url": url})

    def run(self, script, *arguments):
        """What the body of a function returns, in the page."""
        return self.ask("/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.ask("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def console(self):
        """The messages since the last call."""
        return self.ask("/se/log", {"type": "browser"})

    def keys(self, text):
        one = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": one}]})

    def pointer(self, selector, share):
        """Moves the pointer over an element, to a share of its width."""
        x, y = self.run("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                        "return [r.left + r.width * arguments[1], r.top + r.height / 2]", selector, share)
        move = [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}]
        self.ask("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": move}]})

    def look(self, width, height=900, dark=False, scale=1):
        """The size of the window, and whether the user likes it dark."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, mobile=width < 500,
                      deviceScaleFactor=scale)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self):
        """As a PNG in base64: what the window shows."""
        return self.devtools("Page.captureScreenshot", format="png")["data"]


def eventually(what, look, seconds=60):
    """Asks until the answer is true; a slow machine may take its time."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)
    return seen
