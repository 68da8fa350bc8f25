"""The SSH algorithms of this server, including algorithms that paramiko does not offer itself."""

from __future__ import annotations

import paramiko
from paramiko.common import MSG_CHANNEL_REQUEST
from paramiko.kex_curve25519 import KexCurve25519

from sftp_ingest.fido_keys import FIDO_KEYS

CIPHERS = ("aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr")
MACS = ("hmac-sha2-512-etm@openssh.com", "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512", "hmac-sha2-256")
ED25519 = "ssh-ed25519"
COOKIE = 16
"""The number of random bytes at the start of a list of algorithms (RFC 4253, section 7.1)."""
WAIT_FOR_LIST = 1.0
"""Seconds to wait for the client's list of algorithms. Then the server sends its own list, with all keys."""
CURVE25519 = "curve25519-sha256"  # RFC 8731; paramiko knows it only as curve25519-sha256@libssh.org


def _with_standard_name(names: tuple[str, ...]) -> tuple[str, ...]:
    at = names.index(f"{CURVE25519}@libssh.org")
    return (*names[:at], CURVE25519, *names[at:])


def _answer_request(channel: paramiko.Channel, message: paramiko.Message) -> None:
    channel._handle_request(message)
    channel.transport.server_object.after_request(channel)


class ServerTransport(paramiko.Transport):  # type: ignore[misc]
    """A paramiko transport with FIDO keys for logins, and with curve25519 under its standard name.

    Every client that supports ed25519 is offered only the ed25519 host key. Many clients prefer ecdsa or rsa:
    a client that has stored the ed25519 key would then report a wrong host key. So the server waits for the
    client's list of algorithms before it sends its own list.

    After the reply to a channel request, the transport calls the session's `after_request`.
    """

    _kex_info = {**paramiko.Transport._kex_info, CURVE25519: KexCurve25519}
    _key_info = {**paramiko.Transport._key_info, **FIDO_KEYS}
    _preferred_kex = _with_standard_name(paramiko.Transport._preferred_kex)
    _preferred_pubkeys = (*paramiko.Transport._preferred_pubkeys, *FIDO_KEYS)
    _channel_handler_table = {
        **paramiko.Transport._channel_handler_table,
        MSG_CHANNEL_REQUEST: _answer_request,
    }

    _waits_for_list = True

    def _send_kex_init(self) -> None:
        if self.server_mode and self._waits_for_list:
            self._waits_for_list = False
            if self.sock.has_data(WAIT_FOR_LIST):
                return  # `_negotiate_keys` sends the server's list
        super()._send_kex_init()

    def _negotiate_keys(self, message: paramiko.Message) -> None:
        message.get_bytes(COOKIE)
        message.get_list()  # skip the list of key exchanges
        # Do not narrow a list that the server has sent already, nor the list of a later exchange.
        nothing_sent = self.local_kex_init is None and not self.initial_kex_done
        if ED25519 in message.get_list() and nothing_sent:
            self._preferred_keys = (ED25519,)
        message.rewind()
        super()._negotiate_keys(message)
