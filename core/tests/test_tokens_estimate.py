"""The estimate is never far below a real tokeniser, on any kind of text, and not far above."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import random
import textwrap
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tokens import ExactCounter, estimate_tokens
from perdure.tokens.estimate import _PIECE

O200K = ExactCounter("o200k_base")
CL100K = ExactCounter("cl100k_base")
RANDOM = random.Random(11)
TRANSCRIPTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"

RECORDS = [
    {
        "id": n,
        "customer": f"customer-{n * 7919 % 1000}",
        "total": round(RANDOM.random() * 500, 2),
        "paid": n % 3 == 0,
        "createdAt": f"2031-0{n % 9 + 1}-1{n % 9}T08:3{n % 6}:00Z",
        "note": None,
    }
    for n in range(60)
]
TECHNICAL = {
    "prose": inspect.cleandoc(random.Random.__doc__ or "") * 2 + (textwrap.__doc__ or "") * 6,
    "python": inspect.getsource(textwrap),
    "json": json.dumps(RECORDS),
    "json, compact": json.dumps(RECORDS, separators=(",", ":")),
    "json, indented": json.dumps(RECORDS, indent=4),
    "json in json": json.dumps({"arguments": json.dumps(RECORDS)}),
    "csv": "\n".join(f"{r['id']},{r['customer']},{r['total']},{r['createdAt']}" for r in RECORDS),
    "integers": " ".join(str(RANDOM.randrange(10 ** RANDOM.randrange(1, 12))) for _ in range(500)),
    "floats": "\n".join(repr(RANDOM.random() * 100) for _ in range(200)),
    "one long number": "".join(RANDOM.choices("0123456789", k=3_000)),
    "hashes": "\n".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(60)),
    "short hashes": " ".join(hashlib.sha256(bytes([n])).hexdigest()[:8] for n in range(200)),
    "upper-case hashes": " ".join(hashlib.md5(bytes([n])).hexdigest().upper() for n in range(60)),
    "uuids": "\n".join(str(uuid.UUID(int=RANDOM.getrandbits(128))) for _ in range(60)),
    "base64": base64.b64encode(RANDOM.randbytes(4_000)).decode(),
    "base64 in lines": base64.encodebytes(RANDOM.randbytes(4_000)).decode(),
    "base64 of text": base64.b64encode((inspect.getsource(textwrap)).encode()).decode()[:6_000],
    "url-safe base64": base64.urlsafe_b64encode(RANDOM.randbytes(4_000)).decode(),
    "random letters": " ".join(
        "".join(RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(300)
    ),
    "log": "\n".join(
        f"2031-02-03 04:05:{n % 60:02d},{n:03d} WARNING [worker-{n % 8}] pool.py:{n}: retry in {n} ms"
        for n in range(100)
    ),
    "paths": "\n".join(f"./packages/client/src/views/Order{n}List.test.tsx" for n in range(100)),
    "table": "\n".join(f"| {n:>6} | {'open' if n % 2 else 'closed':<10} |" for n in range(150)),
    "deep indents": "\n".join(" " * (n % 40) + "return" for n in range(300)),
    "emoji in json": json.dumps(
        [{"mood": RANDOM.choice("😀😢🎉"), "ok": "✅", "next": ["🚀", "❌"]} for _ in range(60)],
        ensure_ascii=False,
    ),
    "many line ends": ("}" + "\n" * 40 + "{\r\n\r\n") * 60,
    "signs": "".join(RANDOM.choices("!@#$%^&*()[]{};:,./<>?|~-=+_", k=2_000)),
}
LANGUAGES = {
    "chinese": "我们昨天讨论了新的部署方案，但是数据库迁移还没有完成。请先检查日志，然后告诉我哪一步出了问题。"
    "如果服务器在晚上重启，用户可能会看到错误页面，所以最好提前通知客户。",
    "traditional chinese": "我們昨天討論了新的部署方案，但是資料庫遷移還沒有完成。請先檢查紀錄，然後告訴我哪一步出了問題。"
    "伺服器如果在晚上重新啟動，使用者可能會看到錯誤頁面。",
    "japanese": "昨日、新しいデプロイ手順について話し合いましたが、データベースの移行はまだ終わっていません。"
    "まずログを確認して、どの段階で失敗したのか教えてください。よろしくお願いします。",
    "korean": "어제 새로운 배포 절차에 대해 이야기했지만 데이터베이스 이전은 아직 끝나지 않았습니다. "
    "먼저 로그를 확인하고 어느 단계에서 실패했는지 알려 주세요. 감사합니다.",
    "russian": "Вчера мы обсуждали новый порядок развёртывания, но перенос базы данных ещё не закончен. "
    "Сначала посмотрите журнал и скажите, на каком шаге произошла ошибка.",
    "ukrainian": "Учора ми обговорювали новий порядок розгортання, але перенесення бази даних ще не "
    "завершено. Спочатку перегляньте журнал і скажіть, на якому кроці сталася помилка.",
    "arabic": "ناقشنا أمس خطة النشر الجديدة لكن نقل قاعدة البيانات لم يكتمل بعد. "
    "يرجى فحص السجل أولا ثم إخباري في أي خطوة حدث الخطأ.",
    "hebrew": "אתמול דיברנו על תהליך הפריסה החדש אבל העברת מסד הנתונים עדיין לא הסתיימה. "
    "בבקשה בדקו קודם את היומן וספרו לי באיזה שלב קרתה השגיאה.",
    "hindi": "कल हमने नई तैनाती की योजना पर बात की थी, लेकिन डेटाबेस का स्थानांतरण अभी पूरा नहीं हुआ है। "
    "कृपया पहले लॉग देखें और बताएं कि किस चरण में गलती हुई।",
    "bengali": "গতকাল আমরা নতুন পরিকল্পনা নিয়ে কথা বলেছি, কিন্তু কাজ এখনও শেষ হয়নি। দয়া করে আগে দেখুন কোথায় ভুল হয়েছে।",
    "tamil": "நேற்று நாம் புதிய திட்டத்தைப் பற்றி பேசினோம், ஆனால் வேலை இன்னும் முடியவில்லை.",
    "thai": "เมื่อวานเราคุยกันเรื่องแผนใหม่ แต่การย้ายฐานข้อมูลยังไม่เสร็จ กรุณาตรวจสอบบันทึกก่อนแล้วบอกว่าผิดพลาดที่ขั้นตอนไหน",
    "greek": "Χθες συζητήσαμε τη νέα διαδικασία, αλλά η μεταφορά της βάσης δεδομένων δεν έχει τελειώσει.",
    "georgian": "გუშინ ახალ გეგმაზე ვისაუბრეთ, მაგრამ მონაცემთა ბაზის გადატანა ჯერ არ დასრულებულა.",
    "german": "Gestern haben wir den neuen Ablauf besprochen, aber die Übertragung der Datenbank ist noch "
    "nicht abgeschlossen. Bitte prüfe zuerst das Protokoll und sage mir, welcher Schritt fehlschlug.",
    "french": "Hier nous avons discuté de la nouvelle procédure, mais le transfert de la base de données "
    "n'est pas encore terminé. Vérifie d'abord le journal et dis-moi quelle étape a échoué.",
    "spanish": "Ayer hablamos del nuevo procedimiento, pero el traslado de la base de datos todavía no ha "
    "terminado. Revisa primero el registro y dime en qué paso falló.",
    "polish": "Wczoraj rozmawialiśmy o nowej procedurze, ale przeniesienie bazy danych jeszcze się nie "
    "zakończyło. Najpierw sprawdź dziennik i powiedz mi, na którym kroku wystąpił błąd.",
    "finnish": "Eilen keskustelimme uudesta käyttöönotosta, mutta tietokannan siirto ei ole vielä valmis. "
    "Tarkista ensin loki ja kerro minulle, missä vaiheessa virhe tapahtui.",
    "turkish": "Dün yeni dağıtım sürecini konuştuk ama veritabanının taşınması henüz bitmedi. Önce günlüğü "
    "kontrol et ve hangi adımda hata olduğunu söyle.",
    "vietnamese": "Hôm qua chúng ta đã bàn về quy trình triển khai mới nhưng việc chuyển cơ sở dữ liệu vẫn "
    "chưa xong. Trước hết hãy kiểm tra nhật ký và cho tôi biết bước nào bị lỗi.",
    "swahili": "Jana tulizungumza kuhusu utaratibu mpya, lakini uhamisho wa hifadhidata bado haujakamilika. "
    "Tafadhali angalia kwanza kumbukumbu na uniambie hatua ipi imeshindwa.",
    "emoji": "".join(RANDOM.choices("😀🚀✅❌🔥🎉💡🐛📦🔧🧪🦊🌍🍕", k=200)),
    "emoji in text": "✅ Tests pass\n❌ Build failed 😢\n🚀 Deployed to staging 🎉\n⚠️ Disk is full\n",
}


def higher(text: str) -> int:
    return max(O200K.count_text(text), CL100K.count_text(text))


@pytest.mark.parametrize(
    "text", [*TECHNICAL.values(), *LANGUAGES.values()], ids=[*TECHNICAL, *LANGUAGES]
)
def test_no_kind_of_text_is_underestimated(text):
    assert estimate_tokens(text) >= 0.85 * higher(text)


@pytest.mark.parametrize(
    "text", [*TECHNICAL.values(), *LANGUAGES.values()], ids=[*TECHNICAL, *LANGUAGES]
)
def test_no_kind_of_text_is_estimated_absurdly_high(text):
    assert estimate_tokens(text) <= 1.35 * higher(text)


@pytest.mark.parametrize("kind", ["prose", "python", "json", "integers", "hashes", "base64"])
def test_what_agents_read_most_is_near_the_newer_tokeniser_too(kind):
    real = O200K.count_text(TECHNICAL[kind])

    assert 0.9 * real <= estimate_tokens(TECHNICAL[kind]) <= 1.2 * real


def test_fourteen_thousand_random_common_han_characters_are_not_a_quarter_of_them():
    usual = "时我们这个年对于国上生同成会主面行发学作方能动工要地大中可说经人法"
    text = "".join(RANDOM.choices(usual, k=14_000))

    assert 9_000 < estimate_tokens(text) < 18_000


@given(st.text(max_size=300))
def test_every_character_belongs_to_a_piece(text):
    assert "".join(_PIECE.findall(text)) == text


@given(st.text(max_size=300))
def test_estimate_of_any_text_is_positive_and_bounded(text):
    tokens = estimate_tokens(text)

    assert (tokens > 0) is bool(text)
    assert tokens <= 1 + 5 * len(text)


@given(st.text(alphabet="añЖ字한😀0, \n_", max_size=300), st.integers(0, 300))
def test_a_longer_text_is_not_estimated_lower_than_its_parts_suggest(text, at):
    parts = estimate_tokens(text[:at]) + estimate_tokens(text[at:])

    assert abs(estimate_tokens(text) - parts) <= 8


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "\n",
        " \n",
        "a",
        "aB",
        "=",
        "= ",
        "字",
        "😀",
        "0",
        "\t x",
        "\r\n \r",
        "'",
        "_a",
        "\u0301",
    ],
)
def test_sixteen_times_the_text_costs_nowhere_near_its_square(unit):
    def cpu_s(length: int) -> float:
        text = (unit * length)[:length]
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            estimate_tokens(text)
            best = min(best, time.process_time() - start)
        return best

    assert cpu_s(320_000) < 80 * max(cpu_s(20_000), 0.001)


def openai_transcripts() -> list[Path]:
    return sorted(TRANSCRIPTS.glob("*.openai.jsonl"))


@pytest.mark.skipif(not openai_transcripts(), reason="no real transcripts beside the repository")
def test_real_transcripts_are_estimated_close_to_their_count():
    for path in openai_transcripts():
        with path.open(encoding="utf-8") as lines:
            text = "\n".join(str(json.loads(line).get("content")) for line in lines)[:400_000]
        assert 0.95 * higher(text) <= estimate_tokens(text) <= 1.25 * higher(text), path.name
