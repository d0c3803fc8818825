"""Why there is no connection: each cause has a sentence of its own, which says what to set in the DSN."""

import shutil

import psycopg
import pytest
from tests.server.tls import TLSEndpoint, write_certificate

from armarius.errors import StoreUnavailable
from armarius.store.postgres.pool import Pool, store_error

AT = 'connection failed: connection to server at "db.example" (192.0.2.1), port 5432 failed: '
REFUSED = 'FATAL:  no pg_hba.conf entry for host "192.0.2.7", user "guarded", database "books", '
UNREACHED = "the address is not reached"
UNTRUSTED = "the certificate of the server is not trusted"
MISNAMED = "the certificate of the server is for another host name"
DEMANDED = "the server demands TLS"
FILE = "no trusted certificate is read"
NOT_ADMITTED = "pg_hba.conf of the server does not admit this user"

MESSAGES = [
    ("connection timeout expired", UNREACHED),
    (f"{AT}timeout expired", UNREACHED),
    (f"{AT}Connection timed out\n\tIs the server running on that host and accepting TCP/IP connections?", UNREACHED),
    (f"{AT}No route to host\n\tIs the server running on that host and accepting TCP/IP connections?", UNREACHED),
    (f"{AT}Network is unreachable\n\tIs the server running on that host?", UNREACHED),
    (f"{AT}SSL error: certificate verify failed", UNTRUSTED),
    (f'{AT}root certificate file "/home/guarded/.postgresql/root.crt" does not exist\nEither provide the file.', FILE),
    (f'{AT}could not read root certificate file "/home/guarded/ca.pem": no certificate or crl found', FILE),
    (f'{AT}server certificate for "db.example" does not match host name "guarded.example"', MISNAMED),
    (f'{AT}server certificate for "db.example" (and 1 other name) does not match host name "192.0.2.1"', MISNAMED),
    (f"{AT}{REFUSED}no encryption", DEMANDED),
    (f"{AT}{REFUSED.replace('no pg_hba.conf entry', 'pg_hba.conf rejects connection')}no encryption", DEMANDED),
    (f"{AT}FATAL:  SSL required", DEMANDED),  # PgBouncer
    (f"{AT}{REFUSED}SSL encryption", NOT_ADMITTED),
    (f"{AT}{REFUSED}SSL encryption\n{AT}{REFUSED}no encryption", NOT_ADMITTED),
    (f"{AT}{REFUSED.replace('192.0.2.7', '[local]')}no encryption", NOT_ADMITTED),
    (f"{AT}server does not support SSL, but SSL was required", "the server has no TLS"),
    (f'{AT}FATAL:  password authentication failed for user "guarded"', "the password is wrong"),
]


@pytest.mark.parametrize(("message", "cause"), MESSAGES)
def test_a_message_of_libpq_has_one_cause_and_names_no_user(message, cause):
    error = store_error("postgresql db.example/books", psycopg.OperationalError(message), 0.0)
    assert isinstance(error, StoreUnavailable)
    assert error.code == "STORE_AWAY"
    assert error.message.startswith(f"postgresql db.example/books: no connection: {cause}")
    assert ";" not in error.message
    assert "guarded" not in error.message


def test_what_is_lost_over_an_open_connection_is_no_fault_of_its_address():
    for message in (
        "consuming input failed: SSL SYSCALL error: EOF detected",
        "consuming input failed: could not receive data from server: Connection timed out",
        "consuming input failed: server closed the connection unexpectedly",
    ):
        assert store_error("postgresql", psycopg.OperationalError(message), 0.0).message.endswith(": no connection")


@pytest.fixture
def endpoint(server, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    with TLSEndpoint(server.folder / ".s.PGSQL.5432", *write_certificate(tmp_path, "db.example")) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "words", "cause"),
    [
        ("db.example", "sslmode=verify-full&sslrootcert={folder}/db.example.pem", ""),
        ("db.example", "sslmode=require", ""),
        ("db.example", "sslmode=verify-full&sslrootcert={folder}/other.example.pem", UNTRUSTED),
        ("other.example", "sslmode=verify-full&sslrootcert={folder}/db.example.pem", MISNAMED),
        ("db.example", "sslmode=verify-full&sslrootcert={folder}/missing.pem", FILE),
        ("db.example", "sslmode=disable", DEMANDED),
    ],
)
def test_a_fault_of_tls_is_named_at_the_first_and_at_the_next_call(endpoint, tmp_path, host, words, cause):
    write_certificate(tmp_path, "other.example")
    words = words.format(folder=tmp_path)
    pool = Pool(f"postgresql://postgres@{host}:{endpoint.port}/postgres?hostaddr=127.0.0.1&{words}", size=1)
    for _ in range(2):
        if not cause:
            pool.ask(answer_s=15)
            continue
        with pytest.raises(
            StoreUnavailable, match=rf"^postgresql {host}/postgres: no connection( for [\d.]+ s)?: {cause}"
        ) as refused:
            pool.ask()
        assert "=" in refused.value.message, "it does not say what to set"
    pool.close()
