"""Which sentences of a person are kept as binding, in nine languages and in unusual words."""

from __future__ import annotations

import pytest

from perdure.stock.ledger.rules import kind_of, statements_of

BINDING = {
    "en": [
        "Never push to main without asking.",
        "don't touch the migrations folder",
        "From now on, answer in French.",
        "pls always run the linter before you commit",
        "tabs, not spaces",
        "pnpm over npm, always",
        "Hands off the prod database.",
        "Hold off on deploying until I say so.",
        "nobody merges on Fridays",
        "Nothing goes to staging without a review.",
        "keep it under 200 words",
        "The budget tops out at $1,200.",
        "we're capped at 40 requests per minute",
        "no emojis please",
        "I'm allergic to peanuts.",
        "I can't stand one-letter variable names",
        "leave config.yaml alone",
        "Run it by me first.",
        "Stick to the public API.",
        "Everything in UTC.",
        "CONSTRAINT: Python 3.10 only",
        "Deadline: March 3rd",
        "Whatever you do, don't rename that column.",
        "Can you make sure the tests stay green?",
        "Treat the schema as frozen.",
        "If in doubt, ask me.",
        "Ask before installing anything.",
        "Prices in euros.",
        "Use metric units.",
        "under no circumstances share the key",
        "It is important that the old API keeps working.",
        "quit apologising",
        "Only edit files under src/",
        "I'd rather have two small PRs than one big one",
        "avoid third-party packages",
        "The function must return a list.",
    ],
    "es": [
        "Nunca subas nada a main.",
        "A partir de ahora responde en español.",
        "No toques la base de datos.",
        "El presupuesto máximo es de 500 euros.",
        "Antes de borrar algo, pregúntame.",
        "Prefiero pnpm en vez de npm.",
        "Ni se te ocurra tocar producción",
        "Hay que usar Python 3.11.",
        "Solo puedes editar la carpeta src.",
        "ojo con las zonas horarias",
    ],
    "de": [
        "Niemals direkt auf main pushen.",
        "Ab jetzt bitte auf Deutsch antworten.",
        "Fass die Datenbank nicht an.",
        "Finger weg von der Produktion!",
        "Das Budget beträgt höchstens 500 Euro.",
        "Bevor du etwas löschst, frag mich.",
        "Nur Dateien unter src ändern.",
        "Keine neuen Abhängigkeiten.",
        "Die Abgabe ist am 3. März.",
        "Lieber kleine Commits statt großer.",
    ],
    "fr": [
        "Ne touche jamais à la base de données.",
        "Désormais, réponds en français.",
        "Il faut toujours lancer les tests.",
        "N'ajoute pas de dépendances.",
        "Le budget est de 500 euros au maximum.",
        "Avant de supprimer, demande-moi.",
        "Je préfère pnpm plutôt que npm.",
        "Interdiction de pousser sur main.",
        "Utilise uniquement l'API publique.",
    ],
    "pt": [
        "Nunca faça push na main.",
        "A partir de agora responda em português.",
        "Não mexa no banco de dados.",
        "O orçamento é de no máximo 500 reais.",
        "Antes de apagar, me pergunte.",
        "Só edite arquivos em src.",
        "Prefiro pnpm em vez de npm.",
        "Nada de emojis.",
    ],
    "ru": [
        "Никогда не пушь в main.",
        "С этого момента отвечай по-русски.",
        "Не трогай базу данных.",
        "Бюджет не более 500 рублей.",
        "Прежде чем удалять, спроси меня.",
        "Только файлы в src можно менять.",
        "Никаких новых зависимостей.",
        "Срок: 3 марта",
    ],
    "zh": [
        "绝不要直接推送到 main。",
        "从现在开始用中文回答。",
        "别碰数据库",
        "预算最多500元。",
        "删除之前先问我一声。",
        "注意：只能修改 src 目录",
        "必须用 Python 3.11",
        "我对花生过敏",
        "尽量不用第三方库",
        "所有时间都用北京时间",
        "没有我的同意不得上线",
    ],
    "ja": [
        "mainには絶対にpushしないでください。",
        "今後は日本語で答えてください。",
        "データベースには触らないで。",
        "予算は5万円以内でお願いします。",
        "削除する前に必ず確認して",
        "勝手に依存を増やさないこと",
        "テストコードの実装は行いません",
        "締め切り：3月3日",
        "ピーナッツアレルギーです。",
        "コメントは英語で統一",
    ],
    "ko": [
        "main에 절대 푸시하지 마세요.",
        "앞으로는 한국어로 답해 주세요.",
        "데이터베이스는 건드리지 마",
        "예산은 50만원 이하여야 합니다.",
        "삭제하기 전에 꼭 물어봐",
        "npm 말고 pnpm 써",
        "마감: 3월 3일",
        "허락 없이 배포하지 않도록 해",
    ],
}
ORDINARY = {
    "en": [
        "What does this function do?",
        "It crashed again after the restart.",
        "I don't know why that happens",
        "thanks, that worked",
        "Where are the logs?",
        "Can you show me the diff?",
        "I don't see the button",
        "never mind",
        "The page loads quickly now.",
    ],
    "es": ["¿Qué hace esta función?", "Gracias, ha funcionado.", "Se ha caído otra vez."],
    "de": ["Was macht diese Funktion?", "Danke, das hat geklappt.", "Es ist wieder abgestürzt."],
    "fr": ["Que fait cette fonction ?", "Merci, ça marche.", "Le serveur a redémarré."],
    "pt": ["O que esta função faz?", "Obrigado, funcionou.", "Caiu de novo."],
    "ru": ["Что делает эта функция?", "Спасибо, заработало.", "Опять упало."],
    "zh": ["这个函数是做什么的？", "谢谢，好了", "又崩溃了"],
    "ja": ["この関数は何をしますか？", "ありがとう、動きました", "また落ちた"],
    "ko": ["이 함수는 뭐 하는 거예요?", "고마워요, 됐어요", "또 죽었어요"],
}


def _cases(sets: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, sentence) for language, found in sets.items() for sentence in found]


@pytest.mark.parametrize(("language", "sentence"), _cases(BINDING))
def test_what_binds_is_kept_word_for_word(language, sentence):
    assert sentence in {fact.text for fact in statements_of(sentence, "user")}


@pytest.mark.parametrize(("language", "sentence"), _cases(ORDINARY))
def test_ordinary_sentences_do_not_bind(language, sentence):
    assert kind_of(sentence) == ""
