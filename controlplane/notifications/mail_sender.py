"""One mail, by the SMTP server that the site is set to use. Its address is the operator's word."""

import contextlib
import smtplib
import socket
import ssl
import threading
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend

from controlplane.notifications.kinds.message import Mail
from controlplane.notifications.rules import DELIVERED, Outcome

TIMEOUT_S = 10
"""Of each answer that is waited for."""
MAIL_S = 30.0
"""Of a whole mail, from the connection on; less than the lease of a delivery."""
NO_MAIL = "no-mail-server"
AWAY, AWAY_TEXT = "smtp-away", "The mail server does not answer as one."
STARTTLS, TLS, PLAIN = "starttls", "tls", "none"


def is_set_up() -> bool:
    """Whether this site sends mail at all."""
    return bool(settings.SMTP_HOST and settings.MAIL_FROM)


def send(mail: Mail) -> Outcome:
    """Hand the mail over; how that ended. Raises nothing that the server can cause."""
    if not is_set_up():
        return _failed(NO_MAIL, "This site is not set up to send mail.", is_retriable=False)
    try:
        with _server() as server:
            message_of(mail, server).send()
    except (smtplib.SMTPException, OSError) as error:
        return _outcome_of(error)
    return Outcome(is_delivered=True, code=DELIVERED)


def _outcome_of(error: smtplib.SMTPException | OSError) -> Outcome:
    match error:
        case smtplib.SMTPRecipientsRefused():
            found = _refused(max((code for code, _ in error.recipients.values()), default=450))
        case smtplib.SMTPAuthenticationError():
            found = _failed("smtp-login", "The mail server does not accept this site's login.")
        case smtplib.SMTPResponseException():
            found = _refused(error.smtp_code)
        case ssl.SSLCertVerificationError():
            text = f"The certificate is refused: {error.verify_message}"
            found = _failed("tls-certificate", text)
        case _:
            found = _failed(AWAY, AWAY_TEXT)
    return found


class _Hurried:
    """A connection that is cut at the deadline, however a server drips; its error follows."""

    sock: socket.socket | None

    def __init__(self, *args: Any, **more: Any) -> None:
        self._watch = threading.Timer(MAIL_S, self._cut)
        self._watch.daemon = True
        self._watch.start()
        try:
            super().__init__(*args, **more)
        except BaseException:
            self._watch.cancel()
            raise

    def _cut(self) -> None:
        if self.sock is not None:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._watch.cancel()
        super().close()  # type: ignore[misc] # smtplib.SMTP has it, which comes after this class


class _Plain(_Hurried, smtplib.SMTP):
    pass


class _Tls(_Hurried, smtplib.SMTP_SSL):
    pass


class _Server(EmailBackend):
    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _Tls if self.use_ssl else _Plain


def _server() -> EmailBackend:
    return _Server(
        host=settings.SMTP_HOST,
        port=settings.SMTP_PORT,
        username=settings.SMTP_USERNAME,
        password=settings.SMTP_PASSWORD,
        use_tls=settings.SMTP_SECURITY == STARTTLS,
        use_ssl=settings.SMTP_SECURITY == TLS,
        timeout=TIMEOUT_S,
    )


def message_of(mail: Mail, server: EmailBackend) -> EmailMultiAlternatives:
    """The mail as Django writes it; a header of two lines is refused there, too."""
    domain = settings.MAIL_FROM.rpartition("@")[2].strip("> ")
    thread = f"<alert.{mail.thread_id}@{domain}>"
    ids = {"Message-ID": f"<{mail.message_id}@{domain}>", "References": thread}
    message = EmailMultiAlternatives(
        subject=mail.subject,
        body=mail.text,
        from_email=settings.MAIL_FROM,
        to=list(mail.to),
        headers={**dict(mail.headers), **ids},
        connection=server,
    )
    message.attach_alternative(mail.html, "text/html")
    return message


def _refused(code: int) -> Outcome:
    """What an SMTP code says: 4xx is for now, 5xx for good; whatever else is no mail server's."""
    if not 400 <= code < 600:
        return _failed(AWAY, AWAY_TEXT)
    return _failed(f"smtp-{code}", f"The mail server answers {code}.", is_retriable=code < 500)


def _failed(code: str, text: str, *, is_retriable: bool = True) -> Outcome:
    return Outcome(is_delivered=False, code=code, text=text, is_retriable=is_retriable)
