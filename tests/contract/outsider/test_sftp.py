"""The upload area of a supplier (interface endpoints 10 and 11; contract 8 and 12)."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess

import paramiko
import pytest

from .http_client import unique, well
from .sftp_client import Area
from .steps import TIME


def uploads(supplier):
    body = well(supplier.get("uploads", {"limit": 500}))
    return body["results"] if isinstance(body, dict) else body


def found_upload(supplier, name):
    """Return the record of an upload from the pages of the list, or None."""
    answer = supplier.get("uploads", {"limit": 500})
    while True:
        body = well(answer)
        for each in body["results"] if isinstance(body, dict) else body:
            if each["path"].endswith(name):
                return each
        following = body.get("next") if isinstance(body, dict) else answer.next
        if not following:
            return None
        answer = supplier.get(following)


def test_each_login_sees_its_own_area(area):
    """Contract 8: a login sees only its own area, with `products/`, `inventory/` and `templates/`."""
    assert {"products", "inventory", "templates"} <= set(area.sftp.listdir("."))
    assert set(area.sftp.listdir("/")) == set(area.sftp.listdir("."))


def test_the_commands_put_get_ls_mkdir_rename_and_rm_work(area):
    """Contract 8 lists these commands."""
    folder = f"products/{unique('dir')}"
    area.sftp.mkdir(folder)
    area.put(f"{folder}/a.csv", b"one")
    assert area.get(f"{folder}/a.csv") == b"one"
    assert area.sftp.listdir(folder) == ["a.csv"]
    assert area.sftp.stat(f"{folder}/a.csv").st_size == 3
    area.sftp.rename(f"{folder}/a.csv", f"{folder}/b.csv")
    assert area.sftp.listdir(folder) == ["b.csv"]
    area.sftp.remove(f"{folder}/b.csv")
    assert area.sftp.listdir(folder) == []
    area.sftp.rmdir(folder)
    with pytest.raises(OSError, match=r".*"):
        area.sftp.stat(folder)


def test_a_second_put_replaces_the_file(area):
    """Contract 8: `put` works as with other SFTP servers, so the new content replaces the old content."""
    name = f"products/{unique('F')}.csv"
    area.put(name, b"first, and long")
    area.put(name, b"second")
    assert area.get(name) == b"second"


def test_every_complete_upload_is_recorded(acme, area):
    """Contract 8 and 10: a record has `id`, `path`, `size`, `sha256`, `uploaded_at`, `remote_address`."""
    name, content = f"{unique('F')}.csv", b"sku,title,retail_price\n" * 100
    area.put(f"products/{name}", content)
    record = found_upload(acme, name)
    assert record is not None
    assert record["size"] == len(content)
    assert record["sha256"] == hashlib.sha256(content).hexdigest()
    assert TIME.match(record["uploaded_at"])
    assert record["remote_address"] == "127.0.0.1"
    assert isinstance(record["id"], int)


def test_a_broken_upload_can_be_resumed_and_is_invisible_to_imports(demo, acme):
    """Contract 8: an import cannot read an upload that was interrupted.

    Contract 13: only `stat` shows the upload, with its present size, and its owner can resume it.
    """
    name = f"products/{unique('BROKEN')}.csv"
    half, rest = b"sku,title,retail_price\nHALF,x", b",1\n"
    with Area(demo["sftp"], acme.about["sftp_username"], acme.about["sftp_password"]) as area:
        handle = area.sftp.open(name, "wb")
        handle.write(half)
        handle.flush()
        assert name.split("/")[1] not in area.sftp.listdir("products")
        area.transport.sock.shutdown(socket.SHUT_RDWR)
    with Area(demo["sftp"], acme.about["sftp_username"], acme.about["sftp_password"]) as area:
        assert area.sftp.stat(name).st_size == len(half)
        assert name.split("/")[1] not in area.sftp.listdir("products")
        with pytest.raises(OSError, match=r".*"):
            area.get(name)
        assert acme.post("importProducts", {"file_url": name}).status == 400
        assert found_upload(acme, name) is None
        with area.sftp.open(name, "ab") as handle:
            handle.write(rest)
        assert area.get(name) == half + rest
    assert found_upload(acme, name)["size"] == len(half + rest)


def test_templates_are_read_only(acme, area):
    """Contract 6 and 8: the folder `templates/` of the upload area is read-only."""
    for name in ("products.csv", "inventory.csv"):
        assert area.get(f"templates/{name}") == acme.get(f"templates/{name}").raw
        for attempt in (
            lambda name=name: area.put(f"templates/{name}", b"x"),
            lambda name=name: area.sftp.remove(f"templates/{name}"),
            lambda name=name: area.sftp.rename(f"templates/{name}", "products/stolen.csv"),
        ):
            with pytest.raises(OSError, match=r".*"):
                attempt()
    with pytest.raises(OSError, match=r".*"):
        area.put("templates/mine.csv", b"x")
    with pytest.raises(OSError, match=r".*"):
        area.sftp.mkdir("templates/mine")


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "products/../../../etc/passwd",
        "//etc/passwd",
        "../products/../../x",
    ],
)
def test_nothing_outside_the_area_is_reached(area, path):
    """Contract 8: nothing outside the area can be reached by any path, link or rename."""
    with pytest.raises(OSError, match=r".*"):
        area.get(path)


def test_a_path_above_the_root_means_the_root(area):
    """Contract 8: a path above the root of the area means the root."""
    assert area.sftp.normalize("../../..") == "/"
    assert set(area.sftp.listdir("../..")) == set(area.sftp.listdir("/"))


def test_links_are_refused(area):
    """Contract 8: nothing outside the area can be reached by any link."""
    name = f"products/{unique('LINK')}"
    with pytest.raises(OSError, match=r".*"):
        area.sftp.symlink("/etc/passwd", name)
    assert name.split("/")[1] not in area.sftp.listdir("products")


def test_a_rename_out_of_the_area_is_refused(area):
    """Contract 8: nothing outside the area can be reached by a rename."""
    name = f"products/{unique('F')}.csv"
    area.put(name, b"x")
    for target in ("../../../tmp/outside.csv", "templates/x.csv"):
        try:
            area.sftp.rename(name, target)
        except OSError:
            continue
        assert target.startswith("../"), "the file was moved into the read-only templates"
        pytest.fail("a rename to a path outside the area was accepted")
    assert area.get(name) == b"x"


def test_areas_of_two_suppliers_are_separate(area, rivals_area):
    """Contract 8: each login sees only its own area."""
    name = unique("SECRET")
    area.put(f"products/{name}.csv", b"x")
    assert f"{name}.csv" not in rivals_area.sftp.listdir("products")
    with pytest.raises(OSError, match=r".*"):
        rivals_area.get(f"products/{name}.csv")


def test_a_wrong_password_and_an_unknown_name_are_refused(demo):
    """Contract 8: only a supplier's login opens an area.

    The name is unique, because failed logins count against a name.
    """
    with pytest.raises(paramiko.AuthenticationException):
        Area(demo["sftp"], unique("nobody"), "wrong").__enter__()


def test_shells_commands_and_forwarding_are_refused(demo, acme):
    """Contract 8: there are no shells, port forwards or agents."""
    with Area(demo["sftp"], acme.about["sftp_username"], acme.about["sftp_password"]) as area:
        for start in (lambda session: session.exec_command("id"), paramiko.Channel.invoke_shell):
            session = area.transport.open_session(timeout=10)
            start(session)
            assert session.recv_exit_status() == 1
            assert session.recv(1_000) == b""
            assert b"This server has no shell" in session.recv_stderr(1_000)
        with pytest.raises(paramiko.SSHException):
            area.transport.open_channel("direct-tcpip", ("127.0.0.1", 22), ("127.0.0.1", 1), timeout=10)
        with pytest.raises(paramiko.SSHException):
            area.transport.request_port_forward("127.0.0.1", 0)


def test_the_top_folders_of_an_area_cannot_be_removed(area):
    """Contract 8: the folders `products/`, `inventory/` and `templates/` cannot be removed."""
    for name in ("products", "inventory", "templates"):
        with pytest.raises(OSError, match=r".*"):
            area.sftp.rmdir(name)
        with pytest.raises(OSError, match=r".*"):
            area.sftp.rename(name, "elsewhere")
    assert {"products", "inventory", "templates"} <= set(area.sftp.listdir("/"))


def test_the_published_host_key_is_the_servers(demo):
    """Contract 11: demo.json has the server's `host_key`."""
    transport = paramiko.Transport((demo["sftp"]["host"], demo["sftp"]["port"]))
    try:
        transport.start_client(timeout=10)
        assert f"ssh-ed25519 {transport.get_remote_server_key().get_base64()}" == " ".join(
            demo["sftp"]["host_key"].split()[:2]
        )
    finally:
        transport.close()


def test_uploads_of_another_supplier_are_not_listed(acme, rivals_area):
    """Contract 1: a supplier sees no uploads of another supplier."""
    name = f"{unique('THEIRS')}.csv"
    rivals_area.put(f"inventory/{name}", b"sku,quantity\n")
    assert found_upload(acme, name) is None
    assert uploads(acme) is not None


def test_a_name_with_spaces_and_letters_of_all_kinds_is_accepted(acme, area):
    """Contract 8: an import finds a file with such a name."""
    name = f"products/{unique('ä b 光')}.csv"
    area.put(name, b"sku,title,retail_price\n")
    assert acme.post("importProducts", {"file_url": name}).status == 201


def test_the_standard_openssh_client_uploads_folders(demo, acme, tmp_path):
    """Contract 8: `put -r` of the OpenSSH client works."""
    if not shutil.which("sftp"):
        pytest.skip("no OpenSSH client on this machine")
    folder = tmp_path / unique("folder")
    folder.mkdir()
    (folder / "a.csv").write_bytes(b"one")
    (folder / "b.csv").write_bytes(b"two")
    (tmp_path / "known").write_text(
        f"[{demo['sftp']['host']}]:{demo['sftp']['port']} {demo['sftp']['host_key']}\n"
    )
    (tmp_path / "ask").write_text('#!/bin/sh\necho "$SFTP_PASSWORD"\n')
    (tmp_path / "ask").chmod(0o700)
    command = [
        "sftp",
        "-F",
        "none",
        "-o",
        f"UserKnownHostsFile={tmp_path}/known",
        "-o",
        "StrictHostKeyChecking=yes",
        "-o",
        "PreferredAuthentications=password",
        "-o",
        "PubkeyAuthentication=no",
        "-P",
        str(demo["sftp"]["port"]),
        f"{acme.about['sftp_username']}@{demo['sftp']['host']}",
    ]
    there = f"products/{folder.name}"
    commands = f"put -r {folder} products/\nls {there}\nget {there}/a.csv {tmp_path}/back.csv\nbye\n"
    environment = os.environ | {
        "SSH_ASKPASS": str(tmp_path / "ask"),
        "SSH_ASKPASS_REQUIRE": "force",
        "SFTP_PASSWORD": acme.about["sftp_password"],
    }
    ran = subprocess.run(
        command, input=commands, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran
    assert "b.csv" in ran.stdout, ran
    assert (tmp_path / "back.csv").read_bytes() == b"one"
