"""Drives a headless Chromium over its DevTools pipe: nothing but the standard library, no port, no network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
_PATIENCE = 300.0  # seconds until a browser that says nothing is given up


def chromium() -> str | None:
    """Where the browser is, None without one."""
    usual = Path("/usr/bin/chromium")
    return str(usual) if usual.exists() else shutil.which("chromium")


class Browser:
    """One browser with one page. `messages` holds what the page logged and every address it asked for."""

    def __init__(self, executable: str, profile: Path) -> None:
        # Chromium reads commands from descriptor 3 and answers on 4.
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        spare = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)
        script = f'exec "$@" 3<&{spare[0]} 4>&{spare[1]}'
        self._log = (profile.parent / f"{profile.name}.log").open("wb")
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                script,
                "bash",
                executable,
                *FLAGS,
                "--remote-debugging-pipe",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=spare,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        for end in spare:
            os.close(end)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.messages: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, page: Path, width: int, height: int = 844, dark: bool = False) -> None:
        """Load a file at this width in CSS pixels, as a phone would below 600."""
        self.messages.clear()
        self.requests.clear()
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page.resolve().as_uri())
        # The evaluation may still reach the page before: it waits there for the other address.
        loaded = f"document.readyState === 'complete' && location.href === {json.dumps(page.resolve().as_uri())}"
        wait = "new Promise(done => { const look = () => LOADED ? done(true) : setTimeout(look, 20); look(); })"
        self.evaluate(wait.replace("LOADED", loaded))
        self.evaluate("Promise.all([...document.images].map(image => image.decode().catch(() => 0))).then(() => true)")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, of a promise its outcome."""
        for _ in range(50):
            try:
                answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
            except RuntimeError as error:
                # The page was replaced by the next while the script waited in it.
                if "context" not in str(error).lower() and "navigated" not in str(error).lower():
                    raise
                time.sleep(0.1)
                continue
            if "exceptionDetails" in answer:
                raise AssertionError(f"the script failed in the page: {answer['exceptionDetails']}")
            return answer["result"].get("value")
        raise RuntimeError("the page never stood still")

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """A PNG of what is in view, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the DevTools protocol and its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def close(self) -> None:
        """End the browser that was started here, and no other."""
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(15)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._write)
            os.close(self._read)
            self._log.close()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], _PATIENCE)[0]:
                raise RuntimeError("the browser does not answer")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event.get("method") == "Log.entryAdded":
            self.messages.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))
        elif event.get("method") == "Runtime.exceptionThrown":
            self.messages.append(str(params["exceptionDetails"].get("text")))
