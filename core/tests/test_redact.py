"""No secret gets through, and what only looks like one stays."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.redact import find_secrets, redact, secrets_in

OPENAI = "sk-FAKEFAKEFAKEFAKEFAKEFAKE0123456789abcd"
GITHUB = "ghp_FAKE0123456789FAKE0123456789FAKE0123"
VALUE = "a8F3kk29XmQ0aa71"


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("anthropic-key", "sk-ant-api03-FAKE0123456789FAKE0123456789FAKE0123-abc_DEFg"),
        ("openai-key", "sk-proj-FAKE0123456789FAKE0123456789FAKE0123"),
        ("aws-key-id", "ASIAFAKEFAKEFAKE1234"),
        ("github-token", "github_pat_11FAKE0123456789012345_FAKE0123456789FAKE0123456789FAKE"),
        ("gitlab-token", "glpat-FAKE0123456789FAKE01"),
        ("slack-token", "xapp-1-A0123-456-FAKEFAKEFAKE0123"),
        (
            "discord-hook",
            "https://discord.com/api/webhooks/123456789012345678/FAKEfakeFAKEfake_0123",
        ),
        ("stripe-key", "whsec_FAKE0123456789FAKE0123"),
        ("sendgrid-key", "SG.FAKE0123456789FAKE01.FAKE0123456789FAKE0123456789FAKE0123"),
        ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0"),
        ("cookie", "Cookie: sid=9fK2mQ8zLx7Tn4Wv1Rb6; theme=dark"),
    ],
)
def test_keys_of_more_services_are_known_by_their_shape(kind, key):
    assert secrets_in(f"it is {key}\nnext line") == [kind]
    assert redact(f"it is {key}\nnext line").endswith("\nnext line")


@pytest.mark.parametrize(
    "text", ["密钥{}在这里", "トークン{}です", r"export A=1\n{}\n", "|{}|", "'{}'"]
)
@pytest.mark.parametrize("key", [OPENAI, GITHUB])
def test_key_is_found_between_letters_of_any_script_and_escapes(text, key):
    assert key not in redact(text.format(key))


@pytest.mark.parametrize(
    "text",
    [
        '{{"api_key": "{}"}}',
        r"{{\"api_key\": \"{}\"}}",
        '{{"name": "API_KEY", "value": "{}"}}',
        r"x\nAPI_KEY={}\n",
        "apiKey: '{}',",
        "authtoken = {}",
        "ENCRYPTION_KEY={}",
        "tool --api-key {} run",
        "tool --token={} run",
        "https://api.example.com/v1?api_key={}&x=1",
        "x-api-key: {}",
        "Authorization: Bearer {}",
        "SECRET_KEY_BASE={}",
        "密钥：{}",
        "トークン: {}",
    ],
)
def test_random_value_behind_the_name_of_a_key_is_replaced(text):
    assert VALUE not in redact(text.format(VALUE))


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD={}",
        'dbPassword = "{}"',
        'password: str = "{}"',
        "mysql --password={} -u root",
        "login --password {} now",
        "my password is {} by the way",
        "curl -u admin:{} https://x.example",
        "redis://:{}@host:6379/0",
        "密码：{}",
        "密码是 {}",
        "パスワード: {}",
        "비밀번호: {}",
        "Passwort: {}",
        "contraseña: {}",
        "mot de passe : {}",
        "senha: {}",
        "пароль: {}",
    ],
)
def test_password_is_replaced_in_nine_languages(text):
    assert "hunter2Xy9z" not in redact(text.format("hunter2Xy9z"))


@pytest.mark.parametrize("value", ['"correct horse 7 battery!"', "'p4ss!'"])
def test_quoted_password_is_replaced_whole(value):
    assert redact(f"password = {value}") == f"password = {value[0]}[REDACTED:password]{value[0]}"


@pytest.mark.parametrize("quote", ["", '"'])
def test_long_value_is_replaced_to_its_end(quote):
    value = "a8F3kk29XmQ0" * 60

    assert redact(f"TOKEN={quote}{value}{quote} next") == (
        f"TOKEN={quote}[REDACTED:secret]{quote} next"
    )


def test_password_of_letters_in_an_environment_is_replaced():
    assert redact("DB_PASSWORD=correcthorsebattery") == "DB_PASSWORD=[REDACTED:password]"


@pytest.mark.parametrize(
    "key",
    [
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,AB\n\n{}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        "     1→-----BEGIN PRIVATE KEY-----\n     2→{}\n     3→-----END PRIVATE KEY-----",
        r"-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n{}\n{}",
    ],
)
def test_private_key_is_replaced_in_any_wrapping(key):
    body = "MIIEpAIBAAKCAQEA1234567890abcdef"
    text = redact(f"before\n{key.replace('{}', body)}\nand then plain words")

    assert body not in text
    assert text.startswith("before\n")
    assert text.endswith("and then plain words")


def test_each_of_two_private_keys_is_replaced_alone():
    key = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END PRIVATE KEY-----"

    assert redact(f"{key} between {key}") == "[REDACTED:private-key] between [REDACTED:private-key]"


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f9ac2d41b07e6f5a4b3c2d1e0f9a8b7c6d5e4f3",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "integrity sha512-9fK2mQ8zLx7Tn4Wv1Rb6Yc3Hd5Jp0Gs9fK2mQ8zLx7Tn4Wv1Rb6Yc3Hd5Jp0Gs==",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "class sk-loading-spinner-container-large2 is used",
        "the -----BEGIN PRIVATE KEY----- marker, and then prose that goes on for long",
        "max_tokens: 4096, token_count = 12345678",
        "Token usage: 12345678/200000",
        "password: str = Field(default=None)",
        "password=get_password_from_vault2()",
        "PASSWORD_MIN_LENGTH=12345678",
        "token_hash = 3f9ac2d41b07e6f5a4b3c2d1e0f9a8b7c6d5e4f3",
        "api_key=os.environ['API_KEY2']",
        "api_key=settings.OPENAI_API_KEY2",
        "self.token = Token2.parse(x)",
        "token = tokens[i+1]",
        "access_token: string;",
        "token: T_WHITESPACE1",
        "secret: ${{ secrets.NPM_TOKEN2 }}",
        "export TOKEN=$(cat /run/x1)",
        "password: /etc/app/pw2.txt",
        "secret=https://vault.local/v1/x2",
        "primary_key=user_id_2024_table_name",
        "cache_key = a8F3kk29XmQ0aa71",
        "monkey=a8F3kk29XmQ0aa71",
        "bypass=a8F3kk29XmQ0aa71",
        "Password: 2 attempts are left",
        "the password is required",
        "the secret of good soup is time",
        "basic authentication2023guide",
        "https://host:3000/path@2x.png",
        "docker run -u 1000:1000 image",
        "/usr/lib/python3.11/site-packages/secrets.py",
        "我的密码是什么",
    ],
)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text) == text


@given(st.text(), st.sampled_from([OPENAI, GITHUB]), st.text())
def test_redacting_again_changes_nothing(before, key, after):
    once = redact(f"{before} {key} {after}")

    assert key not in once
    assert redact(once) == once


@given(
    st.text(
        alphabet=st.sampled_from("pasword=:\"'\\ İ\n-/@.{}1aZ")
        | st.characters(exclude_categories=[]),
        max_size=80,
    )
)
def test_spans_are_in_order_and_inside_any_text(text):
    found = find_secrets(text + "password=1a?B/ " + text)

    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= secret.start < secret.end <= 2 * len(text) + 15 for secret in found)


@pytest.mark.parametrize(
    "piece",
    [
        "password=",
        'token="',
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ-",
        "sk-",
        "://a:b",
        "-u a:",
        "Cookie: a=",
        "Basic ",
        "key",
    ],
)
def test_hostile_text_costs_linear_time(piece):
    def cost(size: int) -> float:
        text = piece * size
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    cost(100)
    assert cost(32_000) < 24 * max(cost(4_000), 0.004)
