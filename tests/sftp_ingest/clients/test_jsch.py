"""JSch as Debian ships it, with its default settings: the client of many Java programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sftp_ingest.server.listener import SftpServer
from tests.sftp_ingest.clients.conftest import Programs
from tests.sftp_ingest.conftest import PASSWORD
from tests.upload_area import AreaPath

JAR = Path("/usr/share/java/jsch.jar")
PROGRAM = """\
import com.jcraft.jsch.*;

public class Upload {
    public static void main(String[] words) throws Exception {
        JSch jsch = new JSch();
        jsch.setKnownHosts(words[0]);
        Session session = jsch.getSession("acme", "127.0.0.1", Integer.parseInt(words[1]));
        session.setPassword(words[2]);
        session.connect(60000);
        ChannelSftp channel = (ChannelSftp) session.openChannel("sftp");
        channel.connect(60000);
        channel.put("x.csv", "products/x.csv");
        channel.rename("products/x.csv", "products/z.csv");
        channel.get("products/z.csv", "back.csv");
        System.out.println(channel.ls("products"));
        session.disconnect();
    }
}
"""

pytestmark = [
    pytest.mark.program,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not JAR.exists() or not shutil.which("javac"), reason="JSch (libjsch-java) or a JDK is not installed"
    ),
]


def test_jsch_connects_with_its_default_settings(programs: Programs, server: SftpServer, acme_area: AreaPath):
    lines = (f"[127.0.0.1]:{server.port} {key.get_name()} {key.get_base64()}\n" for key in server._keys)
    (programs.home / "known").write_text("".join(lines))
    (programs.folder / "Upload.java").write_text(PROGRAM)
    on_path = f"{JAR}:{programs.folder}"
    programs.well("javac", "-cp", on_path, "Upload.java")

    words = (programs.home / "known", str(server.port), PASSWORD)
    listed = programs.well("java", "-cp", on_path, "Upload", *words)

    assert "z.csv" in listed
    assert (programs.folder / "back.csv").read_text() == "sku\nX\n"
    assert (acme_area / "products/z.csv").read_text() == "sku\nX\n"
