"""A later value pushes the older one aside; nothing else does."""

from __future__ import annotations

import pytest

from perdure.stock.ledger import build, facts_of, render, render_quotations
from perdure.stock.ledger.supersede import current_texts, replaced_by

IMPLICIT = [
    ("The budget is $500.", "The budget is now $800."),
    ("Deadline: Friday", "Deadline is Monday at 10am now"),
    ("Max 3 retries.", "max 5 retries please"),
    ("Keep answers under 200 words.", "Keep answers under 300 words."),
    ("The API port must be 8080.", "Actually the API port should be 9090."),
    ("The database is Postgres.", "The database is now MySQL."),
    ("Our deadline is March 3.", "The deadline got pushed to March 10."),
    ("Der Port ist 8080.", "Der Port ist jetzt 9090."),
    ("Answer in French.", "From now on, answer in German."),
    ("数据库用 postgres。", "数据库改用 mysql。"),
    ("Die Wartezeit muss 30 Sekunden betragen.", "Die Wartezeit muss 90 Sekunden betragen."),
    ("El umbral debe ser 0.7.", "El umbral debe ser 0.9."),
    ("대기 시간은 20초로 해 주세요.", "대기 시간은 60초로 해 주세요."),
    ("Порог должен быть 15.", "Порог должен быть 25."),
    ("O intervalo deve ser de 10 minutos.", "O intervalo deve ser de 30 minutos."),
    ("Le seuil doit être de 12.", "Le seuil doit être de 18."),
    ("El presupuesto es de 500 euros.", "El presupuesto ahora es de 800 euros."),
    ("Das Budget beträgt 500 Euro.", "Das Budget liegt jetzt bei 800 Euro."),
    ("Le budget est de 500 euros.", "Le budget est maintenant de 800 euros."),
    ("O orçamento é de 500 reais.", "O orçamento agora é de 800 reais."),
    ("Бюджет 500 рублей.", "Бюджет теперь 800 рублей."),
    ("超时时间应该是 40 秒。", "超时时间应该是 75 秒。"),
    ("Reply in Italian.", "Please reply in Polish from now on."),
    ("Отвечай по-итальянски.", "Отныне отвечай по-польски."),
    ("用意大利语回复。", "今后用波兰语回复。"),
    ("イタリア語で返事して。", "今後はポーランド語で返事して。"),
    ("이탈리아어로 답해 줘.", "이제부터 폴란드어로 답해 줘."),
    ("Use Node 18 for the build.", "Use Node 20 for the build."),
    ("max_retries = 3", "max_retries = 7"),
    ("La taille de page est de 50.", "La taille de page doit être de 75 maintenant."),
    ("worker 数量必须是 4。", "worker 数量设成 12。"),
    ("Дата запуска 1 июня.", "На самом деле дата запуска 15 июня."),
    ("预算是500元。", "预算改为800元。"),
    ("予算は500円です。", "予算を800円に変更してください。"),
    ("예산은 500달러입니다.", "예산은 이제 800달러입니다."),
]
EXPLICIT = [
    ("The queue is named jobs-a.", "The queue is not jobs-a anymore, it's jobs-b."),
    ("Timeout: 15 s", "Timeout: 15 s -> 30 s"),
    ("таймаут: 15 с", "таймаут: 15 с -> 30 с"),
    ("The log level is DEBUG.", "Log level: INFO (was DEBUG)."),
    ("La file s'appelle jobs-a.", "La file ne s'appelle plus jobs-a mais jobs-b."),
    ("Das Release ist am 5. Mai.", "Das Release wurde vom 5. Mai auf den 12. Mai verschoben."),
    ("队列叫 jobs-a。", "队列不叫 jobs-a 了，改叫 jobs-b。"),
    ("ログレベルは DEBUG です。", "ログレベル: INFO（以前は DEBUG）。"),
    (
        "Используй для тестов семь серверов.",
        "Используй для тестов девять серверов вместо семи серверов.",
    ),
    (
        "Usa tres réplicas para la prueba.",
        "Usa seis réplicas para la prueba en lugar de tres réplicas.",
    ),
    ("测试请用两台服务器。", "测试请用六台服务器，不再用两台服务器。"),
    ("The budget is $500.", "Budget changed from $500 to $800."),
    ("timeout must be 30s", "timeout: 30s -> 60s"),
    ("Use npm for installs.", "Use pnpm instead of npm for installs."),
    ("Use tabs.", "Use spaces instead of tabs."),
    ("Always deploy to us-east-1.", "We no longer deploy to us-east-1."),
    ("El presupuesto es de 500 euros.", "El presupuesto pasa de 500 a 800 euros."),
    ("Das Budget beträgt 500 Euro.", "Das Budget wurde von 500 Euro auf 800 Euro erhöht."),
    ("Le budget est de 500 euros.", "Le budget passe de 500 à 800 euros."),
    ("O orçamento é de 500 reais.", "O orçamento mudou de 500 para 800 reais."),
    ("Бюджет 500 рублей.", "Бюджет увеличен с 500 до 800 рублей."),
    ("预算是500元。", "预算从500元改为800元。"),
    ("予算は500円です。", "予算を500円から800円に変更してください。"),
    ("예산은 500달러입니다.", "예산을 500달러에서 800달러로 변경해 주세요."),
]
BOTH_HOLD = [
    ("The API port is 8080.", "The web port is 9090."),
    ("Never touch a.py.", "Never touch b.py."),
    ("Never deploy on Friday.", "Never deploy on Saturday."),
    ("The budget is $500.", "The budget for travel is $800."),
    ("Version 1.2 must not crash.", "Version 1.3 must not crash."),
    ("Always run `make test`.", "Always run `make lint`."),
    ("Use 2 spaces in YAML.", "Use 4 spaces in Python."),
    ("I need a flight from Boston to Paris, budget $500.", "Never book from Paris to Boston."),
    ("The limit is 5.", "The limit is 5."),
    ("Open port 8080.", "Also open port 9090."),
    ("Keep the budget under $500 for food and $200 for taxis.", "Budget under $300 for food."),
    ("预算是500元。", "酒店预算是800元。"),
    ("Never use npm in CI.", "Use pnpm instead of npm for local installs."),
    ("Le port de l'API est 8080.", "Le port du site est 9090."),
    ("Das Limit für Mails ist 5.", "Das Limit für Anrufe ist 9."),
    (
        "I must change my flight from Boston to Rome.",
        "I want to change my flight from Boston to Oslo.",
    ),
    ("Use tabs.", "In YAML use spaces instead of tabs."),
    ("The database is slow.", "The database is Postgres."),
    ("The language is Go.", "The language of the docs is German."),
    ("Meet at 5pm.", "The deadline is 6pm."),
    ("use `TemporaryFolder`", "use that in `show_undo`"),
    ("The new lines are already in a/commands.py!", "The new lines are already in b/coder.py!"),
    ("My reservation ID is GV1N64.", "The reservation ID is VA5SGQ."),
    ("/drop src/a.py src/b.py", "/drop src/b.py"),
    ("Please look at file 3.", "Please look at file 4."),
    ("Look at page 3.", "Look at page 4."),
    ("Check worker 3.", "Check worker 4."),
    ("Show me release 3.", "Show me release 4."),
    ("Zeig mir Seite 3.", "Zeig mir Seite 4."),
    ("Prüf Server 3.", "Prüf Server 4."),
    ("Regarde la page 3.", "Regarde la page 4."),
    ("Relance le serveur 3.", "Relance le serveur 4."),
    ("Mira la página 3.", "Mira la página 4."),
    ("Veja a linha 3.", "Veja a linha 4."),
    ("Покажи страницу 3.", "Покажи страницу 4."),
    ("Проверь сервер 3.", "Проверь сервер 4."),
    ("看看第 3 页。", "看看第 4 页。"),
    ("3ページを見て。", "4ページを見て。"),
    ("3페이지 보여 줘.", "4페이지 보여 줘."),
    ("페이지 3 보여 줘.", "페이지 4 보여 줘."),
    ("サーバー3を確認して。", "サーバー4を確認して。"),
    ("检查服务器 3。", "检查服务器 4。"),
    ("Max 3 files.", "Max 5 retries."),
    ("Answers at most 200 words.", "Answers at most 10 lines."),
    ("Höchstens 200 Wörter.", "Höchstens 10 Zeilen."),
    ("Answer in detail.", "Answer in English."),
    ("Answer in French.", "Comments in German."),
    ("用中文回答。", "注释用英文写。"),
    ("Mets la taille de police à 11.", "Mets la taille de bordure à 13."),
    ("前端用 React 18。", "后端用 Node 20。"),
    ("Use Node 18 for the build.", "Use Node 20 for the tests."),
]


STILL_HOLDS = [
    ("Keep 3 backups.", "3 -> 5"),
    ("The meeting is on June 3.", "The flight was moved from June 3 to June 8."),
    ("Answer old@example.net within a day.", "Invoices no longer go to old@example.net."),
]


def _ledger(*texts: str):
    return build(None, [(i, facts_of({"role": "user", "content": t})) for i, t in enumerate(texts)])


def _rendered(*texts: str) -> str:
    found = render(_ledger(*texts), count=len, budget_tokens=5_000, rules_budget_tokens=5_000)
    return found.text


@pytest.mark.parametrize(("old", "new"), IMPLICIT)
def test_another_value_for_the_same_subject_replaces_and_stays_legible(old, new):
    replaced = replaced_by(_ledger(old, new).statements)
    assert replaced == {0: (1, False)}
    text = _rendered(old, new)
    assert text.index(new) < text.index(old)
    assert "replaces" in text


@pytest.mark.parametrize(("old", "new"), EXPLICIT)
def test_a_value_that_the_text_calls_old_is_left_out(old, new):
    assert replaced_by(_ledger(old, new).statements) == {0: (1, True)}
    said = [line for line in _rendered(old, new).splitlines() if line.startswith("- [0]")]
    assert said == []


@pytest.mark.parametrize(("first", "second"), BOTH_HOLD)
def test_statements_that_both_hold_are_not_marked(first, second):
    assert replaced_by(_ledger(first, second).statements) == {}
    assert replaced_by(_ledger(second, first).statements) == {}


def test_a_chain_of_values_ends_at_the_newest():
    text = _rendered("The budget is $500.", "The budget is $600.", "The budget is $700.")
    line = next(line for line in text.splitlines() if "replaces" in line)
    assert line.index("$700") < line.index("$600") < line.index("$500")


def test_a_value_said_again_wins_over_the_one_in_between():
    ledger = _ledger("The budget is $500.", "The budget is $800.", "The budget is $500.")
    assert [fact.text for fact in ledger.statements] == [
        "The budget is $800.",
        "The budget is $500.",
    ]
    assert replaced_by(ledger.statements) == {0: (1, False)}


def test_the_assistant_replaces_nothing_the_user_said():
    items = [
        (0, facts_of({"role": "user", "content": "The budget is $500."})),
        (
            1,
            facts_of(
                {"role": "assistant", "content": "I decided the budget is $900 instead of $500."}
            ),
        ),
    ]
    assert replaced_by(build(None, items).statements) == {}


def test_a_replaced_value_is_not_quoted_or_asked_as_if_it_still_held():
    ledger = _ledger("The budget is $500.", "The budget is now $800.", "And now?")
    quoted = render_quotations(ledger, count=len, budget_tokens=5_000)
    rendered = render(ledger, count=len, budget_tokens=5_000, rules_budget_tokens=5_000)
    assert "$500" not in quoted.text
    assert "The budget is now $800." in quoted.text
    [line] = [line for line in rendered.text.splitlines() if "is $500" in line]
    assert "replaces" in line


def test_a_replaced_value_in_a_longer_message_is_marked_where_it_stands():
    ledger = _ledger(
        "Book the hall for May. The budget is $500. Ada will pay.", "The budget is $800."
    )
    quoted = render_quotations(ledger, count=len, budget_tokens=5_000)
    assert "Book the hall for May. The budget is $500. [replaced in 1] Ada will pay." in quoted.text


@pytest.mark.parametrize(("earlier", "later"), STILL_HOLDS)
def test_an_old_value_of_one_thing_is_not_that_of_another(earlier, later):
    assert current_texts(_ledger(earlier, later))(0, earlier) == earlier


def test_a_plain_sentence_with_a_value_that_is_named_as_old_is_marked():
    """It was no statement of the ledger, so its quotation went on as if it held."""
    old = "Invoices go out to billing@old.example, as you know."
    ledger = _ledger(old, "Invoices no longer go to billing@old.example.")

    text = render_quotations(ledger, count=len, budget_tokens=5_000).text

    assert "[replaced in 1]" in text
