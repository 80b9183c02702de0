"""What of a typed text its author wrote as their own words, as against a text that they hand over.

A policy, a mail or a specification in a message is not a list of its sender's rules. It shows by
its form (headings, numbered sections, the head of a mail), by the line that announces it, or by
being longer than anybody types. What was typed above and below it stays the sender's.
"""

from __future__ import annotations

import re
from itertools import islice

from perdure.stock.ledger.words import words

_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_SECTION = re.compile(
    r"^(?:#{1,6} (?:\d{1,3}(?:\.\d{1,3})*[.)]? |§)|§ ?\d|\d{1,2}\.\d{1,2}(?:\.\d{1,2})?\.? \S"
    r"|(?:section|article|artikel|abschnitt|art[íi]culo|artigo|seção|sección|статья|раздел|пункт) "
    r"\d{1,3}|第[\d一二三四五六七八九十]{1,4}[条章節节]|제 ?\d{1,3} ?[조장]"
    r"|(?:\*\*)?\d{1,2}[.)] [^\n]{3,60}[^\s.!?:;,。](?:\*\*)?\n\n?(?!\d{1,2}[.)] )\S[^\n]{8})",
    re.MULTILINE | re.IGNORECASE,
)
_MAIL = re.compile(
    r"^(?:>?\s?(?:\*\*)?(?:from|to|cc|subject|date|sent|von|an|betreff|gesendet|datum|de|à|objet"
    r"|envoyé|para|asunto|enviado|fecha|assunto|data|от|кому|тема|дата|发件人|收件人|主题|日期|差出人"
    r"|宛先|件名|送信日時|보낸 사람|받는 사람|제목|날짜)(?:\*\*)?\s?[:：] ?\S[^\n]*\n){2,8}"
    r"|^-{3,10} ?[^\n-]{3,60}-{3,10}$",
    re.MULTILINE | re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^(?=[^\n]{0,200}(?:polic(?:y|ies)|docs?\b|document|guide|readme|manual|handbook|e?-?mail|ticket|spec"
    r"|article|wiki|memo|contract|richtlinie|dokument|handbuch"
    r"|anleitung|vertrag|politique|courriel|règlement|contrat|pol[íi]tica"
    r"|correo|contrato|regulamento|политик|документ|письм|инструкци|регламент|договор"
    r"|政策|文档|文件|邮件|规定|制度|手册|合同|規程|文書|メール|資料|マニュアル|契約|정책|문서|메일|규정|지침|계약))"
    r"[^\n]{1,200}[:：]\s*\n\n?(?=\S)",
    re.MULTILINE | re.IGNORECASE,
)
# A line that says how something is to be made, or what to go by, announces its author's wishes.
_WISHED = re.compile(
    r"(?<!\w)(?:like this|as follows|stick to|halte? (?:dich|euch|sie sich)"
    r"|(?:write|create|make|draft|add|send|follow|obey|apply|adhere|comply|respect|befolg|beacht|schreib|erstell|écri|rédig|cré"
    r"|sui[sv]|appliqu|escri[bt]|escrev|redact|redij|crea|crie|sig[au]|cumpl|respeit|respet|aplic"
    r"|напиш|созда|добав|соблюд|следуй|придержив)\w{0,5})(?!\w)"
    r"|这样|如下|写|作成|書い|次のよう|遵守|遵循|按照|従|守|다음과 같|작성|써 ?줘|따르|따라|지켜"
)
_LEAST_BYTES = 120
_HEADINGS = 3
_SECTIONS = 2
_DOCUMENT_CHARS = 1_500
# Nobody types more; of a longer text the edges are taken as typed.
_MOST_TYPED = 40_000
_EDGE = 4_000
_LAST_CHARS = 600
_LOOKED_AT = 2_000
_BLANK_LINE = re.compile(r"\n\s*\n")


def own_and_document(text: str) -> tuple[str, str]:
    """Return what the author says in their own words, and what they hand over; both may be empty.

    Args:
        text: A typed text, see `typed.typed_of`.
    """
    start = _start(text[:_MOST_TYPED])
    if start < 0:
        return (text, "") if len(text) <= _MOST_TYPED else _edges(text)
    before, document = text[:start], text[start:]
    end = _end(document)
    return f"{before}\n\n{document[end:]}".strip("\n"), document[:end]


def _start(text: str) -> int:
    """Return where a document starts, or -1."""
    places = []
    for pattern, least in ((_SECTION, _SECTIONS), (_MAIL, 1), (_HEADING, _HEADINGS)):
        found = list(islice(pattern.finditer(text), least))
        if len(found) == least and (pattern is not _HEADING or len(text) > _DOCUMENT_CHARS):
            title = _HEADING.search(text)
            places.append(min([found[0].start(), *([title.start()] if title else [])]))
    for announced in islice(_ANNOUNCED.finditer(text), 5):
        after = text[announced.end() :][:_LEAST_BYTES].encode("utf-8", "surrogatepass")
        line = announced[0].strip().lower()
        is_label = words().label.fullmatch(line)
        if len(after) >= _LEAST_BYTES and not is_label and not _WISHED.search(line):
            places.append(announced.start())
            break
    return min(places, default=-1)


def _end(document: str) -> int:
    """Return where the document ends: a last paragraph of plain words is its sender's again."""
    blanks = [
        blank.end() for blank in _BLANK_LINE.finditer(document, max(0, len(document) - _LOOKED_AT))
    ]
    last = blanks[-1] if blanks else 0
    paragraph = document[last:]
    is_plain = not _HEADING.match(paragraph) and not re.match(r"[|>\d•*-]|\[pasted ", paragraph)
    return last if last and is_plain and len(paragraph) <= _LAST_CHARS else len(document)


def _edges(text: str) -> tuple[str, str]:
    first = text.rfind("\n", 0, _EDGE) + 1 or _EDGE
    last = text.find("\n", len(text) - _EDGE) + 1 or len(text) - _EDGE
    return f"{text[:first]}\n{text[last:]}", text[first:last]
