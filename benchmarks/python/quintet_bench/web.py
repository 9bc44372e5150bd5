# SPDX-License-Identifier: BSL-1.0
"""Servers of one object of 64 bytes over HTTP, each reply on a connection of its own: the example http_hello, and nginx."""
import os
import pathlib
import shutil
import socket
import time

from .child import Child
from .errors import RunError
from .results import Result
from .runner import PATIENCE_S

# All paths are relative to nginx's own folder.
NGINX = """daemon off; worker_processes {workers}; pid pid; worker_rlimit_nofile 20000; {user}
events {{ accept_mutex off; worker_connections 16384; }}
http {{ access_log off; keepalive_timeout 0; default_type text/plain;
  open_file_cache max=1000 inactive=60s; open_file_cache_valid 60s; open_file_cache_min_uses 1;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; root .; }} }}
"""


def installed(name: str) -> str | None:
    """Returns the path of a program, also where Debian has those of administrators."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def nginx_command(nginx: str, folder: str, configuration: str, workers: int, **more: str) -> list[str]:
    """Writes the configuration file and returns the command line that uses it."""
    user = "user root;" if os.geteuid() == 0 else ""    # another user may not read the folder
    pathlib.Path(folder, "nginx.conf").write_text(configuration.format(workers=workers, user=user, **more))
    return [nginx, "-p", folder, "-c", "nginx.conf", "-e", "error.log"]


def example_command(program: str, port: str, about: Result) -> list[str]:
    """Returns the command line of an example that serves as `about` says."""
    return [program, "--port", port, "--model", about["model"], "--engine", about["engine"], "--accept", about["accept"],
            "--loops", str(about["loops"])]


def await_accepting(server: Child, port: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with socket.socket() as attempt:
        while attempt.connect_ex(("127.0.0.1", int(port))):
            if server.status() is not None or time.monotonic() > deadline:
                raise RunError(f"{server.name} {server.ending()}")
            time.sleep(0.01)
