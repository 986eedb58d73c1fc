"""JupyterLab and Voilà on a free port of this machine, and a browser's window on what they serve.

Each server has a home of its own: no setting of the user matters, and none changes.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import nbformat

from visits import PATIENCE

ROOT = Path(__file__).parents[2]
LAB = [
    "-m",
    "jupyterlab",
    "--no-browser",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.allow_root=True",
    "--IdentityProvider.token=",
    "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
]
VOILA = ["-m", "voila", "--no-browser", "--Voila.ip=127.0.0.1", "--Voila.port_retries=0"]
# JupyterLab forgets what is run before its kernel has answered.
RUN_ALL = """async () => {
  const { sessionContext } = jupyterapp.shell.currentWidget.context;
  await sessionContext.ready;
  await sessionContext.session.kernel.info;
  jupyterapp.commands.execute("notebook:run-all-cells");
}"""
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
SECONDS = 60  # a server that needs longer to start will not start


@dataclass
class Server:
    """A running server: its address, and the log that it writes."""

    address: str
    log: Path

    def last_words(self, lines=40):
        return "\n".join(self.log.read_text("utf-8", errors="replace").splitlines()[-lines:])


def write_notebook(path, *cells):
    """Write a notebook of code cells, for the kernel that every environment has."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, path)


@contextmanager
def jupyterlab(folder):
    """Serve the notebooks of a folder in JupyterLab."""
    with running([*LAB, f"--ServerApp.root_dir={folder}"], "--ServerApp.port", folder) as server:
        yield server


@contextmanager
def voila(folder):
    """Serve the notebooks of a folder by Voilà: run, and without their code."""
    with running([*VOILA, str(folder)], "--port", folder) as server:
        yield server


@contextmanager
def running(command, port_option, folder):
    """Run a Python command that serves at a free port; it is stopped at the end, whatever
    happens."""
    home = folder / ".home"
    settings = (
        home
        / "settings"
        / "@jupyterlab"
        / "apputils-extension"
        / "notification.jupyterlab-settings"
    )
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(NO_NEWS))
    server, process = started(command, port_option, folder, home)
    try:
        yield server
    finally:
        stop(process)


def started(command, port_option, folder, home, tries=3):
    """Start a server and wait until it listens; a port that somebody else took meanwhile is another
    try."""
    for left in reversed(range(tries)):
        port = free_port()
        server = Server(f"http://127.0.0.1:{port}/", home / f"server-{port}.log")
        process = subprocess.Popen(
            [sys.executable, *command, f"{port_option}={port}"],
            cwd=folder,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until_it_listens(server, process, port)
        except RuntimeError:
            stop(process)
            if not left:
                raise
        else:
            break
    return server, process


def environment(home):
    """The environment of a server at home in a folder: its kernels import this working tree's
    mhalib and mhabook."""
    folders = {
        "HOME": "",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    # Figures as a reader's notebook draws them, not as the book does.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "JPY_")) and name != "LIVEGRAD_FIGURES"
    }
    own = {name: str(home / part) for name, part in folders.items()}
    return inherited | own | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "book")))}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_listens(server, process, port):
    """Keep what it says in the log, until it names the address, which both servers do once they
    listen there."""
    listens, heard = Event(), Event()

    def keep():
        with server.log.open("wb", buffering=0) as log:
            for line in process.stdout:
                log.write(line)
                if f":{port}/".encode() in line:
                    listens.set()
                    heard.set()
        heard.set()

    Thread(target=keep, daemon=True).start()
    heard.wait(SECONDS)
    if listens.is_set():
        return
    how = "did not listen in time" if process.poll() is None else f"ended with {process.returncode}"
    raise RuntimeError(
        f"{' '.join(process.args[1:3])} {how}; its last words:\n{server.last_words()}"
    )


def stop(process):
    """End a server; its kernels end with it, for they watch their parent."""
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class Window:
    """A page of a server, with every other host out of reach: what it asked of others, and what it
    complained of."""

    page: object
    asked_elsewhere: list = field(default_factory=list)
    complaints: list = field(default_factory=list)


@contextmanager
def in_jupyterlab(browser, server, notebook):
    """Open a notebook in JupyterLab and run all of its cells."""
    with window(browser, server, f"doc/tree/{notebook}") as seen:
        seen.page.wait_for_function(
            "window.jupyterapp?.shell.currentWidget?.context?.sessionContext"
        )
        seen.page.evaluate(RUN_ALL)
        yield seen


@contextmanager
def in_voila(browser, server, notebook):
    """Open a notebook by Voilà, which runs it."""
    with window(browser, server, f"voila/render/{notebook}") as seen:
        yield seen


@contextmanager
def window(browser, server, path):
    """Open a page; a failure inside tells the server's last words and the page's complaints."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    seen = Window(context.new_page())

    def pass_if_local(route):
        if route.request.url.startswith(server.address):
            return route.continue_()
        seen.asked_elsewhere.append(route.request.url)
        return route.abort()

    # a kernel starts; Voilà runs every cell before it shows the page
    context.set_default_timeout(PATIENCE)
    # anywidget gives up a model that has not begun after two seconds, which a busy machine may need
    context.add_init_script("AbortSignal.timeout = () => new AbortController().signal")
    context.route("**/*", pass_if_local)
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.on(
        "console", lambda said: seen.complaints.append(said.text) if said.type == "error" else None
    )
    try:
        seen.page.goto(server.address + path)
        yield seen
    except BaseException as error:
        error.add_note(
            f"the page complained of {seen.complaints}, asked elsewhere for {seen.asked_elsewhere}"
        )
        error.add_note(f"the server's last words:\n{server.last_words()}")
        raise
    finally:
        context.close()
