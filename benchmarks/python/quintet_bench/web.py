# SPDX-License-Identifier: BSL-1.0
"""Servers of one object of 64 bytes over HTTP, each reply on a connection of its own: the example http_hello, and nginx. nginx
can also relay."""
import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

from .child import Child
from .errors import RunError, UsageError
from .foreign import free_port, pinned
from .machine import allowed_cpus
from .plan import Run, Settings
from .results import Result
from .runner import PATIENCE_S, load_command, run_load

# All paths are relative to nginx's own folder.
NGINX = """daemon off; worker_processes {workers}; pid pid; worker_rlimit_nofile 20000; {user}
events {{ accept_mutex off; worker_connections 16384; }}
"""
NGINX_FILE = NGINX + """http {{ access_log off; keepalive_timeout 0; default_type text/plain;
  open_file_cache max=1000 inactive=60s; open_file_cache_valid 60s; open_file_cache_min_uses 1;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; root .; }} }}
"""
NGINX_RELAY = "{module}\n" + NGINX + """stream {{
  server {{ listen 127.0.0.1:{port} backlog=1024; proxy_pass {back}; }} }}
"""


def installed(name: str) -> str | None:
    """Returns the path of a program, also where Debian has those of administrators."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def require_installed(of_whom: str, name: str, package: str = "") -> str:
    """The same. Raises UsageError, which says what to install."""
    if path := installed(name):
        return path
    raise UsageError(f"{of_whom}: {name} is not installed; apt-get install {package or name}")


def nginx_command(nginx: str, folder: str, configuration: str, workers: int, **more: str) -> list[str]:
    """Writes the configuration file and returns the command line that uses it."""
    user = "user root;" if os.geteuid() == 0 else ""    # another user may not read the folder
    pathlib.Path(folder, "nginx.conf").write_text(configuration.format(workers=workers, user=user, **more))
    return [nginx, "-p", folder, "-c", "nginx.conf", "-e", "error.log"]


def stream_module(nginx: str) -> str | None:
    """Returns what nginx's configuration needs for stream{}; None: nginx cannot have it."""
    told = subprocess.run([nginx, "-V"], capture_output=True, text=True, check=False).stderr
    if re.search(r"--with-stream\s", told):
        return ""
    folder = re.search(r"--modules-path=(\S+)", told)
    module = f"{folder[1] if folder else '/usr/lib/nginx/modules'}/ngx_stream_module.so"
    return f"load_module {module};" if os.path.exists(module) else None


def example_command(program: str, port: str, about: Result) -> list[str]:
    """Returns the command line of an example that serves as `about` says, on 127.0.0.1."""
    return [program, "--port", port, "--model", about["model"], "--engine", about["engine"], "--accept", about["accept"],
            "--loops", str(about["loops"])]


def await_accepting(server: Child, port: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with socket.socket() as attempt:
        while attempt.connect_ex(("127.0.0.1", int(port))):
            if server.status() is not None or time.monotonic() > deadline:
                raise RunError(f"{server.name} {server.ending()}")
            time.sleep(0.01)


@contextlib.contextmanager
def accepting(name: str, about: Result, port: str, command: list[str]) -> Iterator[tuple[Child, str]]:
    """Starts a server on its CPUs, which listens on this port of 127.0.0.1. Gives it, ready, with its address."""
    with Child(name, pinned(about["server_cpus"], command)) as server:
        await_accepting(server, port)
        yield server, f"127.0.0.1:{port}"


def serving_hello(program: str, about: Result) -> contextlib.AbstractContextManager[tuple[Child, str]]:
    """http_hello, which closes at once, as nginx does."""
    port = free_port()
    return accepting("http_hello", about, port, [*example_command(program, port, about), "--linger", "0"])


@contextlib.contextmanager
def serving_nginx(nginx: str, about: Result) -> Iterator[tuple[Child, str]]:
    """The same of nginx, whose file is named by its usual size."""
    with tempfile.TemporaryDirectory(prefix="quintet-bench-nginx-") as folder:
        pathlib.Path(folder, "64").write_text("x" * about["message_bytes"])
        port = free_port()
        command = nginx_command(nginx, folder, NGINX_FILE, about["loops"], port=port)
        with accepting("nginx", about, port, command) as served:
            yield served


def load_short(result: Result, s: Settings, run: Run, server: Child, address: str, *more: str) -> None:
    """The client of short connections, on all CPUs."""
    command = [*load_command(s, run, result, address), "--threads", str(len(allowed_cpus())), *more]
    run_load(result, command, server, run.expected_s(s))
