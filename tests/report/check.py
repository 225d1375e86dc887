#!/usr/bin/env python3
"""Opens report pages in a headless Chromium and fails on what a reader would stumble over: errors, use of the network,
charts that are not drawn, text that cannot be read, a page wider than the window; in light, in dark, on paper.

    check.py [--shots DIR] PAGE...      check pages
    check.py --self-test                the checks find pages that are wrong

Speaks the DevTools protocol over the browser's pipe; needs nothing but Python and Chromium.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PATIENCE_SECONDS = 60
BROWSER = os.environ.get("CHROMIUM", "chromium")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe""".split()
LOOKS = {"light": ("screen", "light", 980), "dark": ("screen", "dark", 980), "narrow": ("screen", "light", 400)}

# What is wrong with the page, as a list of words; run inside of it.
LOOK = """(() => {
  const wrong = [];
  const rgb = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const paper = rgb(getComputedStyle(document.body).backgroundColor);
  const charts = [...document.querySelectorAll('svg')];
  if (charts.length === 0) wrong.push('no chart');
  for (const chart of charts) {
    const box = chart.getBoundingClientRect();
    if (box.width < 150 || box.height < 80) wrong.push(`${chart.id} has no room`);
    const lines = [...chart.querySelectorAll('polyline')].filter(line => !line.classList.contains('grid'));
    const marks = lines.filter(line => line.getTotalLength() > 20).length + chart.querySelectorAll('circle').length;
    if (marks === 0) wrong.push(`${chart.id} shows nothing`);
    for (const line of lines) {
      const style = getComputedStyle(line);
      if (style.stroke === 'none' || style.fill !== 'none') wrong.push(`${chart.id}: a line is not drawn as one`);
      else if (contrast(rgb(style.stroke), paper) < 1.5) wrong.push(`${chart.id}: a line cannot be seen`);
    }
    const [, , width, height] = chart.getAttribute('viewBox').split(' ').map(Number);
    for (const text of chart.querySelectorAll('text')) {
      const { x, y, width: w, height: h } = text.getBBox();
      if (x < -1 || y < -1 || x + w > width + 1 || y + h > height + 1) wrong.push(`${chart.id}: "${text.textContent}" is cut off`);
    }
  }
  for (const text of document.querySelectorAll('h1,h2,p,td,th,dd,li'))
    if (text.textContent && contrast(rgb(getComputedStyle(text).color), paper) < 4.5)
      { wrong.push(`"${text.textContent.slice(0, 40)}" cannot be read`); break; }
  if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  return { wrong, paper, height: document.documentElement.scrollHeight, charts: charts.length };
})()"""


class Browser:
    """A Chromium spoken to over its pipe."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="basalt-report-")
        (theirs_in, self.to), (self.out, theirs_out) = os.pipe(), os.pipe()
        # The browser reads its third file and writes its fourth.
        script = f"exec 3<&{theirs_in} 4>&{theirs_out}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", BROWSER, *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.held, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.held:
            piece = os.read(self.out, 1 << 16)
            if not piece:
                raise SystemExit(f"{BROWSER} ended; it said nothing over its pipe")
            self.held += piece
        message, self.held = self.held.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            if time.monotonic() > deadline:
                raise SystemExit(f"{url} does not load")
            self.events.append(self.receive())

    def close(self):
        os.close(self.to)
        self.process.wait(PATIENCE_SECONDS)
        os.close(self.out)
        self.folder.cleanup()


def complaints(events, url):
    """What the browser itself complained of, and every request beyond the page."""
    for event in events:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            yield f"exception: {parameters['exceptionDetails'].get('text')}"
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            yield f"console: {parameters['args']}"
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            yield f"log: {parameters['entry']['text']}"
        elif method == "Network.requestWillBeSent":
            asked = parameters["request"]["url"]
            if asked != url and not asked.startswith("data:"):
                yield f"asks for {asked}"


def check(browser, page, shots):
    """Everything that is wrong with a page."""
    url = page.resolve().as_uri()
    wrong, papers = [], {}
    if page.stat().st_size > 2 * 1024 * 1024:
        wrong.append(f"{page.stat().st_size} bytes")
    for name, (media, scheme, width) in LOOKS.items():
        browser.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.open(url)
        seen = browser.call("Runtime.evaluate", expression=LOOK, returnByValue=True)
        seen = seen["result"].get("value") or {"wrong": [f"cannot be looked at: {seen}"], "paper": [], "height": 900, "charts": 0}
        wrong += [f"{name}: {what}" for what in [*seen["wrong"], *complaints(browser.events, url)]]
        papers[name] = seen["paper"]
        if shots:
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=seen["height"], deviceScaleFactor=1, mobile=False)
            picture = browser.call("Page.captureScreenshot", format="png")["data"]
            (shots / f"{page.stem}-{name}.png").write_bytes(base64.b64decode(picture))
    if sum(papers["light"][:3]) <= sum(papers["dark"][:3]):
        wrong.append(f"dark is not darker than light: {papers}")
    browser.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    paper = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    if shots:
        (shots / f"{page.stem}.pdf").write_bytes(paper)
    sheets = paper.count(b"/Type /Page\n") or paper.count(b"/Type /Page")
    if not paper.startswith(b"%PDF") or sheets == 0:
        wrong.append("cannot be printed")
    return wrong, seen["charts"], sheets


WRONG = {
    "an error": ("<svg></svg><script>throw Error('x')</script>", "exception"),
    "a request": ("<svg></svg><img src='https://example.invalid/x.png'>", "asks for"),
    "no chart": ("<p>nothing</p>", "no chart"),
    "an empty chart": ("<svg id=a viewBox='0 0 300 100' width=300 height=100></svg>", "shows nothing"),
    "too wide": ("<div style='width:3000px'>x</div>", "wider than the window"),
    "text cut off": ("<svg id=a viewBox='0 0 300 100' width=300 height=100><text x=290 y=20>long words</text></svg>", "cut off"),
    "pale text": ("<p style='color:#eee'>x</p>", "cannot be read"),
    "no dark": ("<p>x</p>", "dark is not darker"),
}


def main(arguments):
    shots = None
    if arguments[:1] == ["--shots"]:
        shots, arguments = pathlib.Path(arguments[1]), arguments[2:]
        shots.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    failed = False
    if arguments == ["--self-test"]:
        with tempfile.TemporaryDirectory() as folder:
            for name, (body, expected) in WRONG.items():
                page = pathlib.Path(folder) / "page.html"
                page.write_text(f"<!doctype html><meta charset=utf-8><body style='background:#fff'>{body}")
                found, *_ = check(browser, page, None)
                is_found = any(expected in what for what in found)
                failed |= not is_found
                print(f"{'found' if is_found else 'NOT FOUND'}: {name}")
    for page in map(pathlib.Path, arguments if arguments != ["--self-test"] else []):
        wrong, charts, sheets = check(browser, page, shots)
        print(f"{page.name}: {page.stat().st_size} bytes, {charts} charts, {sheets} sheets: {'wrong' if wrong else 'ok'}")
        for what in dict.fromkeys(wrong):
            print(f"  {what}")
        failed |= bool(wrong)
    browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
