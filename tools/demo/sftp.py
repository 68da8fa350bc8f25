"""The upload of a file with the OpenSSH client, or with paramiko if OpenSSH is missing."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import paramiko

from config.ports import in_url
from tools.demo.client import DemoError

TIMEOUT = 60
REMEDY = " If the service does not run, start it with: make run"


@dataclass(frozen=True)
class UploadAreaLogin:
    """The host, the port and a login of an upload area."""

    host: str
    port: int
    host_key: str
    username: str
    password: str

    @property
    def known_hosts(self) -> str:
        return f"[{self.host}]:{self.port} {self.host_key}\n"


def put(area: UploadAreaLogin, source: Path, target: str) -> str:
    """Upload a file and return the name of the client program. Raises DemoError."""
    if shutil.which("sftp"):
        _put_with_openssh(area, source, target)
        return "sftp"
    _put_with_paramiko(area, source, target)
    return "paramiko"


def _put_with_openssh(area: UploadAreaLogin, source: Path, target: str) -> None:
    with tempfile.TemporaryDirectory(prefix="exchange-demo-") as folder:
        known = Path(folder, "known_hosts")
        known.write_text(area.known_hosts, encoding="utf-8")
        askpass = Path(folder, "askpass")  # without a terminal, ssh gets the password from this program
        askpass.write_text("#!/bin/sh\nprintf '%s\\n' \"$DEMO_SFTP_PASSWORD\"\n", encoding="utf-8")
        askpass.chmod(0o700)
        options = [
            "BatchMode=no",
            "StrictHostKeyChecking=yes",
            f'UserKnownHostsFile="{known}"',
            "GlobalKnownHostsFile=/dev/null",
            "PreferredAuthentications=password",
            "NumberOfPasswordPrompts=1",
            "ConnectTimeout=10",
        ]
        command = ["sftp", "-q", "-F", "/dev/null", "-P", str(area.port)]
        command += [part for option in options for part in ("-o", option)]
        command += ["-b", "-", f"{area.username}@{in_url(area.host)}"]
        environment = {
            **os.environ,
            "SSH_ASKPASS": str(askpass),
            "SSH_ASKPASS_REQUIRE": "force",
            "DISPLAY": os.environ.get("DISPLAY", ":0"),  # older clients need DISPLAY to use SSH_ASKPASS
            "DEMO_SFTP_PASSWORD": area.password,
        }
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program, no shell
                command,
                input=f'put "{source}" "{target}"\n',
                env=environment,
                text=True,
                capture_output=True,
                timeout=TIMEOUT,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DemoError(f"sftp to {area.host}:{area.port} took longer than {TIMEOUT} s") from error
    if done.returncode:
        raise DemoError(
            f"sftp to {area.host}:{area.port} failed: {done.stderr.strip() or done.stdout.strip()}.{REMEDY}"
        )


def _put_with_paramiko(area: UploadAreaLogin, source: Path, target: str) -> None:
    client = paramiko.SSHClient()
    keys = client.get_host_keys()
    with tempfile.NamedTemporaryFile("w", suffix=".known_hosts") as known:
        known.write(area.known_hosts)
        known.flush()
        keys.load(known.name)
    try:
        client.connect(
            area.host,
            port=area.port,
            username=area.username,
            password=area.password,
            timeout=10,
            allow_agent=False,
            look_for_keys=False,
        )
        with client.open_sftp() as session:
            session.putfo(io.BytesIO(source.read_bytes()), target)
    except (paramiko.SSHException, OSError) as error:
        raise DemoError(f"SFTP to {area.host}:{area.port} failed: {error}.{REMEDY}") from error
    finally:
        client.close()
