-- lunarray.kernel.python: the kernel as Jupyter sees it, a file of Python that
-- "lunarray kernel install" writes. The protocol of Jupyter is ipykernel's
-- matter; this drives a child "lunarray kernel run" (lunarray.kernel.session
-- describes what they say to each other).
return [==[
"""Jupyter kernel of lunarray: passes cells to a child `lunarray kernel run`."""
import base64
import os
import selectors
import signal
import subprocess
import sys

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

PROGRAM = os.environ.get("LUNARRAY_PROGRAM") or "lunarray"
BINARY = {"image/png"}


class Child:
    """The program, with two pipes for frames besides its standard streams."""

    def __init__(self):
        to_read, self.ask = os.pipe()
        self.answer, to_write = os.pipe()
        self.process = subprocess.Popen(
            [PROGRAM, "kernel", "run", "/dev/fd/%d" % to_read,
             "/dev/fd/%d" % to_write],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, pass_fds=(to_read, to_write),
            start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.rest = b""
        self.streams = {self.process.stdout.fileno(): "stdout",
                        self.process.stderr.fileno(): "stderr"}
        self.open = set(self.streams) | {self.answer}
        self.partial = {fd: b"" for fd in self.streams}
        for fd in self.open:
            os.set_blocking(fd, False)

    def send(self, kind, text=""):
        body = text.encode("utf-8", "surrogatepass")
        data = b"%s %d\n%s" % (kind.encode(), len(body), body)
        while data:
            data = data[os.write(self.ask, data):]

    def read(self, fd):
        """What is there now; None when nothing is, b"" at the end."""
        try:
            return os.read(fd, 65536)
        except BlockingIOError:
            return None

    def drain(self, write):
        """Output that has come, before the frame that follows it."""
        for fd, name in self.streams.items():
            while fd in self.open:
                data = self.read(fd)
                if data is None:
                    break
                if not data:
                    self.open.discard(fd)
                self.put(fd, name, data, write)

    def put(self, fd, name, data, write):
        """Whole characters to the notebook; the start of one waits."""
        data = self.partial[fd] + data
        end = len(data)
        for back in range(1, min(4, end + 1)):
            byte = data[end - back]
            if byte >= 0xC0:
                size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                if size > back:
                    end -= back
                break
            if byte < 0x80:
                break
        self.partial[fd] = data[end:]
        if end:
            write(name, data[:end].decode("utf-8", "replace"))

    def frames(self):
        """The frames that are whole."""
        while True:
            head, mark, body = self.rest.partition(b"\n")
            if not mark:
                return
            kind, size = head.decode().rsplit(" ", 1)
            if len(body) < int(size):
                return
            self.rest = body[int(size):]
            yield kind, body[:int(size)]

    def wait(self, write):
        """Frames as they come, output in between; ends when the child does."""
        while self.answer in self.open:
            with selectors.DefaultSelector() as selector:
                for fd in self.open:
                    selector.register(fd, selectors.EVENT_READ)
                selector.select()
            self.drain(write)
            data = self.read(self.answer)
            if data == b"":
                self.open.discard(self.answer)
            elif data:
                self.drain(write)
                self.rest += data
            yield from self.frames()
        self.drain(write)

    def interrupt(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def close(self):
        for fd in (self.ask, self.answer):
            try:
                os.close(fd)
            except OSError:
                pass
        try:
            self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class LunarrayKernel(Kernel):
    implementation = "lunarray"
    implementation_version = "@VERSION@"
    banner = "lunarray @VERSION@: tensors in Lua 5.4"
    language_info = {
        "name": "lua", "version": "5.4", "mimetype": "text/x-lua",
        "file_extension": ".lua", "pygments_lexer": "lua",
        "codemirror_mode": "lua"}
    help_links = []
    child = None

    def talk(self, kind, text=""):
        """Send a request; the frames up to "done"."""
        if self.child is None:
            self.child = Child()
        child = self.child
        try:
            child.send(kind, text)
        except BrokenPipeError:
            pass
        for name, body in child.wait(self.write):
            if name == "done":
                return
            yield name, body
        status = child.process.wait()
        self.drop()
        yield "lost", str(status).encode()

    def write(self, name, text):
        if not self.silent:
            self.send_response(self.iopub_socket, "stream",
                               {"name": name, "text": text})

    silent = False

    def do_execute(self, code, silent, store_history=True,
                   user_expressions=None, allow_stdin=False, **others):
        self.silent = silent
        self._allow_stdin = allow_stdin
        error, bundle = None, {}
        try:
            before = signal.signal(
                signal.SIGINT,
                lambda *_: self.child and self.child.interrupt())
        except ValueError:      # not the main thread
            before = None
        try:
            for kind, body in self.talk("execute", "%d\n%s" % (
                    self.execution_count, code)):
                error = self.take(kind, body, bundle, allow_stdin) or error
        except BaseException:
            self.drop()         # frames that nobody read are left
            raise
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)
        if error is None:
            return {"status": "ok", "execution_count": self.execution_count,
                    "payload": [], "user_expressions": {}}
        if not silent:
            self.send_response(self.iopub_socket, "error", error)
        return dict(error, status="error",
                    execution_count=self.execution_count)

    def take(self, kind, body, bundle, allow_stdin):
        """One frame of an execution; the content of an error."""
        text = body.decode("utf-8", "replace")
        if kind.startswith("data "):
            name = kind[5:]
            bundle[name] = (base64.b64encode(body).decode()
                            if name in BINARY else text)
        elif kind in ("result", "display"):
            content = {"data": dict(bundle), "metadata": {}}
            bundle.clear()
            if kind == "result":
                content["execution_count"] = self.execution_count
            if not self.silent:
                self.send_response(
                    self.iopub_socket, "execute_result"
                    if kind == "result" else "display_data", content)
        elif kind == "input":
            line = None
            if allow_stdin:
                try:
                    line = self.raw_input(text)
                except Exception:
                    pass        # the front end has no input: none comes
            self.child.send("end" if line is None else "line", line or "")
        elif kind == "error":
            message, _, trace = text.partition("\0")
            return {"ename": "Error", "evalue": message,
                    "traceback": (trace or message).split("\n")}
        elif kind == "lost":
            message = ("lunarray has ended (status %s); the next cell starts "
                       "it again, without what was computed" % text)
            return {"ename": "Ended", "evalue": message,
                    "traceback": [message]}
        return None

    def do_complete(self, code, cursor_pos):
        matches, word = [], ""
        for kind, body in self.talk("complete", code[:cursor_pos]):
            if kind == "word":
                word = body.decode("utf-8", "replace")
            elif kind == "match":
                matches.append(body.decode("utf-8", "replace"))
        return {"status": "ok", "matches": matches, "metadata": {},
                "cursor_start": cursor_pos - len(word),
                "cursor_end": cursor_pos}

    def do_inspect(self, code, cursor_pos, detail_level=0,
                   omit_sections=()):
        text = None
        request = "%d %s" % (detail_level, code[:cursor_pos] + "\0"
                             + code[cursor_pos:])
        for kind, body in self.talk("inspect", request):
            if kind == "text":
                text = body.decode("utf-8", "replace")
        return {"status": "ok", "found": text is not None, "metadata": {},
                "data": {} if text is None else {"text/plain": text}}

    def do_is_complete(self, code):
        status = "unknown"
        for kind, body in self.talk("is_complete", code):
            if kind == "status":
                status = body.decode()
        reply = {"status": status}
        if status == "incomplete":
            reply["indent"] = "  "
        return reply

    def drop(self):
        if self.child is not None:
            self.child.close()
            self.child = None

    def do_shutdown(self, restart):
        self.drop()
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    sys.path[:] = [p for p in sys.path if p]
    IPKernelApp.launch_instance(kernel_class=LunarrayKernel)
]==]
