#!/usr/bin/env python3
"""The shop's page in a headless Chromium.
   page_test.py SOURCE-ROOT SHOP [--screenshot FILE]    (instead of the checks)"""
import base64
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from browser import Browser, eventually
from scene import Ensemble, NoShop, Shop

ROOT, PROGRAM = sys.argv[1:3]
HELPERS = pathlib.Path(__file__).with_name("page.js").read_text()
NASTY_LABEL = 'C"\'><img src=x onerror="hacked=1">\n</bdi>&lt;'
NASTY_ARTICLE = '<b onclick="hacked=1">"plums"</b>\n<script>hacked=1</script>'
TAB, ENTER, LEFT = "\ue004", "\ue007", "\ue012"
FRAMES = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"


class Scene(contextlib.ExitStack):
    """Whatever happens, all that it has started is ended with it."""

    def begin(self, folder):
        self.ensemble = self.keep(Ensemble(ROOT), Ensemble.close)
        self.stock = f"{folder}/stock"
        goods = [f"--put={article}=1000" for article in ("plums", "pears", "quinces", NASTY_ARTICLE)]
        subprocess.run([PROGRAM, "--stock", self.stock, *goods], check=True)
        self.browser = self.keep(Browser(), Browser.close)
        self.browser.look(1180)

    def keep(self, what, close):
        self.callback(close, what)
        return what

    def shop(self, label, packing, **more):
        return self.keep(Shop(PROGRAM, self.ensemble, self.stock, label, packing, **more), Shop.kill)

    def visit(self, shop):
        self.browser.open(shop.url)
        self.run(HELPERS + "Object.assign(window, { shown, detach, event, place, play, faint, cut });")

    def run(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def page(self):
        return self.run("return shown()")

    def card(self, article="plums"):
        return self.page()["cards"].get(article) or {"queue": [], "runs": [], "rest": "", "spoken": ""}

    def labels(self, article="plums"):
        return [one["label"] for one in self.card(article)["queue"]]

    def saw(self, text):
        return any(one["text"] == text for one in self.page()["log"])

    def until(self, state):
        eventually(f"the page says {state}", lambda: self.page()["state"] in state.split())


def same(seen, wanted):
    assert seen == wanted, f"expected {wanted}, but it is {seen}"


def check_empty_page(s):
    s.until("connected")
    page = s.page()
    same((page["word"], page["empty"], page["cards"]), ("Connected", True, {}))
    assert s.ensemble.address in page["reason"], page["reason"]
    same(page["shop"], "seen by shop A")


def check_order_by_keyboard(s):
    s.browser.keys(TAB + "plums" + TAB + TAB + ENTER)
    eventually("the order holds its lock", lambda: s.saw("shop A holds plums"))
    eventually("the answer", lambda: s.page()["answer"] == "Order 1 is sold, 999 plums are left.")
    eventually("the article is free again", lambda: s.card()["queue"][0]["role"] == "nobody")
    s.run("byId('order').elements.article.value = 'nuts'; byId('order').requestSubmit()")
    eventually("the refusal", lambda: s.page()["answer"] == "there is no article nuts")


def check_holder_and_waiters(s):
    length = 0
    for shop, orders in ((s.b, 1), (s.a, 1), (s.b, 1), (s.a, 6)):
        for _ in range(orders):
            shop.order("plums")
        length += orders
        eventually(f"{length} orders are in the queue", lambda: len(s.a.queue("plums")) == length)
    wanted = ["shop B", "shop A", "shop B", "shop A", "shop A"]
    eventually("the page shows the queue", lambda: s.labels() == wanted and s.card()["rest"] == "+ 4 more")
    queue = s.card()["queue"]
    same([one["role"] for one in queue], ["holder", "", "", "", ""])
    same([one["turn"] for one in queue], ["holds", "1", "2", "3", "4"])
    same(s.card()["count"], "8 waiting")
    assert queue[0]["process"].endswith(f":{s.b.process.pid}"), queue[0]
    assert queue[0]["colour"] != queue[1]["colour"], queue
    eventually("all seconds grow", lambda: all(
        now["seconds"] > one["seconds"] + 1 for now, one in zip(s.card()["queue"], queue)))
    listed = s.a.queue("plums")
    for shown, one in zip(s.card()["queue"], listed):
        assert abs(time.time() - one["since"] - shown["seconds"]) < 10, (shown, one)


def check_everything_by_keyboard(s):
    s.run("document.activeElement.blur(); getSelection().removeAllRanges()")
    reached = set()
    for _ in range(7):  # the window itself is one of them, where it wraps around
        s.browser.keys(TAB)
        reached.add(tuple(s.run(
            "const one = document.activeElement;"
            "return [one.tagName, one.name || one.textContent, getComputedStyle(one).outlineStyle]")))
    wanted = {("BUTTON", "+ 4 more"), ("svg", ""), ("INPUT", "article"), ("INPUT", "count"), ("BUTTON", "Order")}
    same({one for one in reached if one[0] != "BODY"}, {one + ("solid",) for one in wanted})
    s.run("document.querySelector('.rest button').focus()")
    s.browser.keys(ENTER)
    eventually("the whole queue", lambda: len(s.labels()) == 9 and s.card()["rest"] == "fewer")
    same(s.run("return document.activeElement.getAttribute('aria-expanded')"), "true")
    s.browser.keys(ENTER)
    eventually("the short queue", lambda: len(s.labels()) == 5)


def check_timeline(s):
    card = s.card()
    same(card["runs"][-1], card["queue"][0]["colour"])
    assert re.match("The last minute of plums: .*shop B [0-9]+ s", card["spoken"]), card["spoken"]
    s.browser.pointer(".strip .run:last-of-type", 0.5)
    eventually("the run below the pointer", lambda: s.card()["picked"].startswith("shop B: "))
    s.browser.pointer("h1", 0.5)
    eventually("no run", lambda: s.card()["picked"] == "")


def check_nothing_moves(s):
    s.run("window.shift = 0; document.querySelectorAll('article *').forEach((node) => { node.kept = true; });"
          "new PerformanceObserver((list) => { for (const one of list.getEntries()) shift += one.value; })"
          ".observe({ type: 'layout-shift' })")
    for width in (1180, 360):
        s.browser.look(width)
        s.run(FRAMES + "shift = 0")
        before = s.card()["queue"][0]["seconds"]
        eventually("four events", lambda: s.card()["queue"][0]["seconds"] > before + 3)
        same(s.run(FRAMES + "return shift"), 0)
    s.browser.look(1180)
    same(s.run("return [...document.querySelectorAll('article *')].filter((node) => !node.kept).length"), 0)


def check_loss(s):
    colour = s.card()["queue"][0]["colour"]
    s.b.kill()
    eventually("the next one holds", lambda: s.labels()[:1] == ["shop A"])
    card, page = s.card(), s.page()
    assert "shop B" not in s.labels(), s.labels()
    assert colour in card["runs"] and card["runs"][-1] not in (colour, ""), card
    assert {"text": "shop B left; it held plums and waited in 1 place", "sudden": True} in page["log"], page["log"]
    s.run("document.querySelector('.strip').focus()")
    eventually("the lost hold, by the arrow keys",
               lambda: s.browser.keys(LEFT) or s.card()["picked"].startswith("shop B: "))
    s.run("document.activeElement.blur()")


def check_ensemble_away(s):
    s.ensemble.tell("stop")
    s.until("suspended connecting expired")
    page = s.page()
    assert page["word"] in ("Suspended", "Connecting", "Session expired"), page
    assert page["unseen"] and "plums" in page["cards"] and "no connection" in page["reason"], page
    eventually("the age of what it shows",
               lambda: re.fullmatch(r"the queues are those of [1-9]\d* s ago", s.page()["lease"]))
    eventually("the timeline has a gap", lambda: s.run(
        "const { x, width } = [...document.querySelectorAll('.strip .look')].at(-1);"
        "return x.baseVal.valueInSpecifiedUnits + width.baseVal.valueInSpecifiedUnits < 96"))
    s.ensemble.tell("start")
    s.until("connected")
    assert not s.page()["unseen"]
    s.a.order("pears")
    eventually("an order", lambda: s.saw("shop A holds pears"))


def check_shop_away(s):
    s.run("window.loaded = 'once'")
    s.a.kill()
    s.until("silent")
    same(s.page()["word"], "No answer from the shop")
    for refuses in (True, False):
        other = NoShop(s.a.port, refuses)
        for _ in range(2):
            assert other.asked.acquire(timeout=60), "the page does not ask again"
        eventually("it counts the seconds", lambda: "the page asks again" in s.page()["reason"])
        same(s.page()["state"], "silent")
        other.close()
    s.a = s.shop("shop A", "3s", port=s.a.port)
    s.until("connected")
    s.a.order("quinces")
    eventually("an order", lambda: s.saw("shop A holds quinces"))
    same(s.run("return loaded"), "once")


def check_names_are_text(s):
    s.c = s.shop(NASTY_LABEL, "600s")
    s.c.order(NASTY_ARTICLE)
    eventually("the article", lambda: s.labels(NASTY_ARTICLE) == [NASTY_LABEL])
    same(s.run("return [typeof hacked, document.querySelectorAll('img, b, script').length]"), ["undefined", 1])
    assert s.card(NASTY_ARTICLE)["spoken"].startswith("The last minute of " + NASTY_ARTICLE)


def check_policy(s):
    got = s.run("return fetch('/').then((page) => page.headers.get('content-security-policy'))")
    assert got.startswith("default-src 'self';"), got
    s.seen += s.browser.console()
    same(s.run("const script = document.createElement('script'); script.textContent = 'hacked = 1';"
               "document.body.append(script); script.remove(); return typeof hacked"), "undefined")
    assert "Content Security Policy" in s.browser.console()[0]["message"]


def check_sizes_and_colours(s):
    s.run("detach(); const now = 1e9; const wide = 'x'.repeat(200); update(event(now, ["
          "{ article: 'words '.repeat(30), contenders: 70, queue: Array.from({ length: 50 }, (_, n) =>"
          "({ ...place(n, now, `shop ${n}`), holds: n === 0 })) },"
          "{ article: wide, contenders: 2, queue: [{ ...place(1, now, wide), holds: true }, place(2, now, wide)] }]));"
          "document.querySelectorAll('.rest:not([hidden]) button').forEach((button) => button.click());"
          "update(event(now + 1, []))")
    for dark in (False, True):
        for width in (320, 360, 700, 1180):
            s.browser.look(width, dark=dark)
            got = s.run(FRAMES + "return [document.documentElement.scrollWidth, cut(), faint(4.5),"
                        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((one) => one < 60)]")
            same(got, [width, [], [], dark])
    s.browser.look(1180)


def check_clocks(s):
    """That of the shop is not the browser's, and is set back, and forward."""
    got = s.run("const seen = []; let n = 0; const step = (now, since) => { update(event(now, ["
                "{ article: 'dates', contenders: 1, queue: [{ ...place(1, since, 'shop'), holds: true }] }]));"
                "const { queue, spoken, runs } = shown().cards.dates; seen.push([queue[0].seconds, runs.length,"
                "spoken.match(/shop (\\d+) s/)?.[1]]) };"
                "for (; n < 10; ++n) step(2e9 + n, 2e9 - 5);"
                "for (; n < 20; ++n) step(1e9 + n, 2e9 - 5);"
                "step(3e9, 3e9 - 7); step(3e9 + 1, 0); return seen")
    same(got[9], [14, 1, "9"])
    same(got[19], [0, 1, "18"])
    same(got[20], [7, 1, None])
    same(got[21][0], None)


def check_memory(s):
    """An hour, of which every second is shown."""
    begin = s.run("return play(4e9, 300)")

    def sizes():
        s.browser.devtools("HeapProfiler.collectGarbage")
        counters = s.browser.devtools("Memory.getDOMCounters")
        return {"nodes": counters["nodes"], "listeners": counters["jsEventListeners"],
                "heap": s.browser.devtools("Runtime.getHeapUsage")["usedSize"],
                **s.run("return { shown: document.querySelectorAll('*').length, cards: cards.size, looks: looks.length,"
                        "drawn: document.querySelectorAll('.run').length, labels: colours.size, events: events.length,"
                        "processes: processes.size,"
                        "runs: [...cards.values()].reduce((sum, { runs }) => sum + runs.length, 0) }")}

    first = sizes()
    s.run("play(arguments[0], 3600)", begin)
    last = sizes()
    print("   ", first, last, sep="\n    ")
    for what, size in last.items():
        assert size <= first[what] * 1.3 + 10, f"{what}: from {first[what]} to {size}"
    assert last["cards"] <= 25 and last["labels"] <= 64 and last["events"] <= 20, last
    same(last["drawn"], last["runs"])
    s.run("update(event(arguments[0] + 5000, []))", begin)
    same(s.run("return [cards.size, byId('empty').hidden]"), [0, False])


def check_console(s):
    """A shop that is away is all that it complains about."""
    for one in s.seen:
        assert re.search("/(events|orders) - Failed to load resource", one["message"]), one


def check_all(s):
    s.a, s.b, s.seen = s.shop("shop A", "3s"), s.shop("shop B", "600s"), []
    s.visit(s.a)
    for check in (check_empty_page, check_order_by_keyboard, check_holder_and_waiters, check_everything_by_keyboard,
                  check_timeline, check_nothing_moves, check_loss, check_ensemble_away, check_shop_away,
                  check_names_are_text, check_policy, check_sizes_and_colours, check_clocks, check_memory,
                  check_console):
        begin = time.monotonic()
        try:
            check(s)
            s.seen += s.browser.console()
        except Exception:
            print(f"{check.__name__} failed", flush=True)
            print("when the page showed", json.dumps(s.page(), indent=1), flush=True)
            raise
        print(f"{check.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


def take_screenshot(s, file):
    """Two shops in a busy minute."""
    shops = [s.shop("shop A", "2s"), s.shop("shop B", "3500ms")]
    s.browser.look(1120, 690)
    s.visit(shops[0])
    s.until("connected")
    begin = time.monotonic()
    for n in range(31):
        shops[n % 5 % 2].order("plums")
        if n % 3 != 0:
            shops[n // 3 % 2].order("pears")
        time.sleep(max(0.0, begin + 2 * (n + 1) - time.monotonic()))
    pathlib.Path(file).write_bytes(base64.b64decode(s.browser.screenshot()))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder, Scene() as scene:
        os.environ["TMPDIR"] = folder  # a browser leaves folders behind
        scene.begin(folder)
        if "--screenshot" in sys.argv:
            take_screenshot(scene, sys.argv[-1])
        else:
            check_all(scene)


main()
