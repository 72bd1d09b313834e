"""Chromium without a window, driven over its DevTools protocol, which needs no library."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
_OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-quic", "--remote-debugging-pipe",
)  # fmt: skip
_WAIT = """new Promise((found, lost) => {
  const over = Date.now() + 20000;
  const look = () => {
    if (%s) found(true);
    else if (Date.now() > over) lost(new Error("not in time: " + %s));
    else setTimeout(look, 20);
  };
  look();
})"""


class Browser:
    """A page of a browser.

    Args:
        commands: the pipe to the browser.
        answers: the pipe from the browser.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._numbers = itertools.count(1)
        self._unread = b""
        self._session = ""
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self._send("Page.enable")

    def open(self, url: str, ready: str) -> None:
        """Open a URL, and wait until an expression of JavaScript is true."""
        self._send("Page.navigate", url="about:blank")
        self._send("Page.navigate", url=url)
        self.wait(ready)

    def screen(self, width: int, height: int, dark: bool = False, phone: bool = False) -> None:
        """Have a screen."""
        self._send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=phone,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript, or of its promise."""
        told = self._send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true."""
        self.run(_WAIT % (expression, json.dumps(expression)))

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key of the keyboard."""
        known = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        typed = {"text": text} if text else {}
        self._send("Input.dispatchKeyEvent", type="keyDown", **known, **typed)
        self._send("Input.dispatchKeyEvent", type="keyUp", **known)

    def choose_file(self, selector: str, path: str) -> None:
        """Choose a file in an input of the page, as a person does in the dialog of the system."""
        found = f"document.querySelector({json.dumps(selector)})"
        node = self._send("Runtime.evaluate", expression=found)["result"]["objectId"]
        self._send("DOM.setFileInputFiles", objectId=node, files=[path])

    def screenshot(self) -> bytes:
        """Return the whole page as PNG."""
        shot = self._send("Page.captureScreenshot", captureBeyondViewport=True)
        return b64decode(shot["data"])

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        session = {"sessionId": self._session} if self._session else {}
        command = {"id": number, "method": method, "params": parameters, **session}
        unsent = json.dumps(command).encode() + b"\0"
        while unsent:
            unsent = unsent[os.write(self._commands, unsent) :]
        while (answer := self._next()).get("id") != number:
            pass
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser has ended"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser."""
    assert PROGRAM is not None, "needs Chromium"
    there, commands = os.pipe()
    answers, back = os.pipe()
    shell = f'exec "$0" "$@" 3<&{there} 4>&{back}'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            ["bash", "-c", shell, PROGRAM, *_OPTIONS, f"--user-data-dir={profile}"],
            pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(there)
        os.close(back)
        try:
            yield Browser(commands, answers)
        finally:
            os.close(commands)
            os.close(answers)
            process.terminate()
            process.wait(20)
