"""What a sentence fixes a value for, and which old value it takes back, when that is certain.

A wrongly replaced rule does more harm than an old one that stays, so everything here answers with
nothing unless the sentence holds one value, says what it is of, and adds to nothing.
"""

from __future__ import annotations

import re

from perdure.stock.ledger.tongues import tongue_of
from perdure.stock.ledger.words import words

_DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|today|lunes|martes|miércoles"
    r"|jueves|viernes|"
    r"sábado|domingo|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi"
    r"|mercredi|jeudi|"
    r"vendredi|samedi|dimanche|segunda|terça|quarta|quinta|sexta|(?:segunda|terça|quarta"
    r"|quinta|sexta)-feira|"
    r"понедельник\w?|вторник\w?|сред[уаы]|четверг\w?|пятниц[аыу]|суббот[аыу]|воскресень[ея]"
)
_MONTH = (
    r"jan(?:uary|uar|eiro|vier)?|feb(?:ruary|ruar)?|mar(?:ch|s|zo|ço)?|april|apr|avril|abril"
    r"|may|mai|mayo|maio|"
    r"june?|juin|juni[o]?|junho|july?|juillet|juli[o]?|julho|aug(?:ust)?|août|agosto"
    r"|sept?(?:ember|iembre|embre)?|"
    r"setembro|oct(?:ober|ubre|obre)?|oktober|outubro|nov(?:ember|iembre|embre|embro)?"
    r"|dec(?:ember)?|dezember|"
    r"décembre|diciembre|dezembro|января|февраля|марта|апреля|мая|июня|июля|августа|сентября"
    r"|октября|ноября|декабря"
)
_SPACED = re.compile(
    r"`[^`\n]{1,80}`|\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|«[^»\n]{1,80}»"
    rf"|(?<!\w)(?:(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{1,2}}(?:st|nd"
    rf"|rd|th|er|\.)? (?:of |de )?(?:{_MONTH})"
    rf"(?:(?: de)? \d{{4}})?|(?:{_DAY}))(?!\w)"
    r"|[$€£¥₩₽]\s?\d[\d.,]*\d?\s?(?:k|m|bn|million|thousand)?(?!\w)"
    r"|(?<![\w./-])(?:[a-z]{1,12}[-_./@]?)?\d[\w.,:/%@°+-]{0,60}"
    r"|(?<!\w)[a-z][\w-]{0,40}[_/@][\w./@-]{1,80}"
    r"|(?<![\w./-])(?:utc|gmt|cet|cest|edt|pst|pdt|jst|kst|metric|imperial|celsius"
    r"|fahrenheit)(?!\w)"
)
_JOINED = re.compile(
    r"[「『“\"`][^」』”\"`\n]{1,40}[」』”\"`]|[$€£¥￥₩]?\s?\d[\d.,:：/%-]*\s?(?:[a-z%]{1,6}|万|千|百|亿|億"
    r"|만|천)?\s?"
    r"(?:元|块|美元|日元|人民币|円|ドル|원|달러|年|月|日|号|時|时|点|分|秒|毫秒|小时|時間|天|周|週間|个|個|人|字|文字|行|次|回|件|"
    r"년|월|일|시|분|초|시간|명|자|번|건)?(?:间|間|半)?"
    r"|(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일|[一二三四五六七八九十百千万]{1,6}(?:元|块|円|人|天|个月|年|月|日)"
    r"|(?<![a-z])[a-z][a-z0-9_./-]{0,40}"
)
_UNIT = re.compile(
    r"\s?(?:%|per ?cent|prozent|pour cent|por (?:ciento|cento)|процент\w{0,2}"
    r"|euros?|евро|personen|personnes|personas|pessoas|человека?|[kmgt]o|[кмгт]б|мс|мин|сек"
    r"|с|rows?|items?|entries|retries|files?|sentences?|filas|linhas|frases|sätze|phrases"
    r"|ms|msec|secs?|seconds?|s|mins?|minutes?|hrs?|hours?|h|days?|weeks?|months?"
    r"|years?|[kmgt]i?b|bytes?|px|"
    r"pt|km|cm|mm|m|kg|g|lbs?|usd|eur|gbp|jpy|dollars?|euros?|pounds?|bucks|words?|lines?"
    r"|chars?|characters?|tokens?|"
    r"people|persons?|guests?|am|pm|utc|gmt|cet|est|pst|jst|o'clock|segundos?|minutos?|horas?"
    r"|días?|dias?|semanas?|meses|"
    r"dólares|palabras|palavras|líneas|sekunden|minuten|stunden|tage|wochen|monate|wörter"
    r"|zeilen|uhr|secondes?|heures?|"
    r"jours?|semaines?|mois|mots|lignes|reais|секунд\w*|минут\w*|час\w*|дн\w+|недел\w+"
    r"|месяц\w*|рубл\w+|доллар\w*|слов\w*|строк\w*)"
    r"(?!\w)"
)
# Units that say what is counted: five lines take nothing back from two hundred words.
_COUNTED = re.compile(
    r"(?:(?:word|line|char|token|row|item|entr|retr|file|sentence|page)\w{0,7}|palabras?|palavras?"
    r"|líneas?|linhas?|filas?|frases?|wörter|zeilen|sätze|seiten|mots?|lignes?|phrases?"
    r"|слов\w{0,2}|строк\w{0,2}|páginas?)$"
)
# `サーバー3` is one of several servers; after a particle the number would be a value.
_NUMBERED = re.compile(r"[^\W\d_はをがにの是为為用成到从從은는이가을를로만](?<![a-z])\d{1,2}")
_BRIDGE = re.compile(r"\s*(?:,|at|um|à|a las?|às|в|at about|um|gegen|–|-)?\s*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
# Endings by which one Russian word differs from itself; what remains has three letters or more.
_ENDING = re.compile(
    r"(?<=[а-яё]{3})(?:[ая]ми|[оеё]в|[оеё]й|[ая]х|[ыиё]х|[оеё]м|[ая]м|[ыи][йем]|ая|яя|ую|юю|[ое]е"
    r"|ого|его|ому|ему|[аяоеыиуюьй])$"
)
_BLANKS = re.compile(r"(?<=[぀-ヿ㐀-鿿]) +(?=\S)|(?<=\S) +(?=[぀-ヿ㐀-鿿])")
_ASIDE = re.compile(r"\s*[（(][^()（）]{1,60}[)）](?=[.!。！]?$)")
_LATIN = re.compile(r"[a-z][a-z./_-]*")
_SCOPE = re.compile(r"\s*(?:for|per|on|in|für|pro|im|pour|par|para|por|для|на)\s")
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_EDGES = " \t`\"'“”«»„‘’「」『』.,;:!?。，、；：！？"
# A setting that is named by a word: `The database is now Postgres.` The name shows by its spelling.
_NAMED = re.compile(
    r"(?P<before>.{2,60}?)(?:\s(?:is|are|should be|must be|will be|es|será|ist|sei|est|é|это"
    r"|(?:is |are )?(?:named|called)|heißt|lautet|s['’]appelle|se (?:ll|ch)ama|называется)\s"
    r"(?:now |ahora |jetzt |maintenant |agora |теперь |nun |désormais )?|\s?:\s|\s=\s)"
    r"(?P<value>(?:[^\W\d_a-zà-ÿа-я]|\w{1,20}[./_-])[\w.+#/-]{1,30}(?: [\w.+#-]{2,20})?)[.!]?"
)
_ASSIGNED = re.compile(
    r"[`\"']?(?P<name>[a-z]\w{0,40}(?:[_.-]\w{1,40})+)[`\"']? ?[=:] ?"
    r"[`\"']?(?P<value>[^\s`\"',;]{1,60}?)[`\"']?[.;]?"
)
_MOST_SUBJECT_WORDS = 5
_LONGEST = 240


def taken_back(sentence: str) -> tuple[tuple[str, str], ...]:
    """Return (old, new) for values that the sentence names as old, lower case; new may be empty."""
    if len(sentence) > _LONGEST:
        return ()
    lowered, known = compact(sentence.lower()), words()
    found: dict[str, str] = {}
    if not known.taken_back_cue.search(lowered):
        return ()
    for cue, patterns in known.taken_back["joined" if _CJK.search(lowered) else "spaced"]:
        for pattern in patterns if cue.search(lowered) else ():
            for match in pattern.finditer(lowered):
                old = match["old"].strip(_EDGES)
                rest = lowered[match.start("new") :] if "new" in pattern.groupindex else ""
                new = " ".join(rest.split()[: len(old.split())]).strip(_EDGES)
                if old and old not in known.fillers and _could_be(old, new):
                    found.setdefault(old, new)
    return tuple(found.items())


def _could_be(old: str, new: str) -> bool:
    """Return whether both can be values of one thing; the size of letters to 13 is no change."""
    has_number = any(character.isdigit() for character in new)
    return not has_number or any(map(str.isdigit, old)) or re.match(_DAY, old) is not None


def compact(text: str) -> str:
    """Return a text without the blanks that some people write around Chinese characters."""
    return _BLANKS.sub("", text)


def stem(word: str) -> str:
    """Return a lower-case word without the ending that Russian puts on it."""
    return _ENDING.sub("", word)


def subject_and_value(sentence: str, old: tuple[str, ...] = ()) -> tuple[str, str]:
    """Return what the sentence fixes a value for, and the value; both empty unless certain.

    Args:
        sentence: One sentence.
        old: Values that it takes back, which are not its own.
    """
    if len(sentence) > _LONGEST:
        return "", ""
    own = (_ASIDE.sub("", sentence) if old else sentence).strip()
    lowered, known = own.lower(), words()
    script = "joined" if _CJK.search(lowered) else "spaced"
    tongue = tongue_of(lowered)
    if tongue:
        return tongue
    assigned = _ASSIGNED.fullmatch(lowered)
    if assigned:
        return assigned["name"], assigned["value"]
    if not known.settings[script].search(lowered) and not known.limits[script].search(lowered):
        return "", ""
    if script == "joined":
        return _joined_subject(compact(lowered), old)
    return _named(own) or _spaced_subject(lowered, old)


def _named(sentence: str) -> tuple[str, str] | None:
    """Return subject and value of a setting whose value is a word, or None."""
    found = _NAMED.fullmatch(sentence)
    if not found:
        return None
    before = found["before"].lower()
    about = _WORD.findall(before)
    content = sorted({stem(word) for word in about if word not in words().fillers})
    if not content or len(content) > 3 or not words().settings["spaced"].search(before):
        return None
    if any(word in words().additive for word in about):
        return None
    return " ".join(content), found["value"].lower().strip(_EDGES)


def _spaced_subject(sentence: str, old: tuple[str, ...]) -> tuple[str, str]:
    spans = [
        span for span in _merged_spans(sentence) if sentence[slice(*span)].strip(_EDGES) not in old
    ]
    for value in old:
        sentence = sentence.replace(value, " " * len(value), 1)
    if len(spans) != 1:
        return "", ""
    start, end = spans[0]
    before, after = sentence[:start], sentence[end:]
    known = words()
    limit = known.limits["spaced"].search(before)
    late = known.limits["spaced"].search(after)
    if late:
        after = after[: late.start()] + after[late.end() :]
    setting = limit or late or known.settings["spaced"].search(before + "\n" + after)
    about = _WORD.findall(before) + _WORD.findall(after)
    content = sorted({stem(word) for word in about if word not in known.fillers})
    if counted := _COUNTED.search(sentence[start:end]):
        content = sorted({*content, counted[0].rstrip("s")})
    if setting and not content and not late and setting[0] not in known.fillers:
        content = setting[0].split()
    if not setting or not 1 <= len(content) <= _MOST_SUBJECT_WORDS:
        return "", ""
    if not limit and not late and _is_ordinal(before, sentence[start:end], setting.start()):
        return "", ""
    if any(word in known.additive for word in about):
        return "", ""
    trailing = [word for word in _WORD.findall(after) if word not in known.fillers]
    is_counted = late or (limit and not before[limit.end() :].strip())
    counts_a_noun = is_counted and len(trailing) == 1
    if trailing and not counts_a_noun and not _SCOPE.match(after):
        return "", ""
    return " ".join(content), sentence[start:end].strip(_EDGES)


def _is_ordinal(before: str, value: str, setting: int) -> bool:
    """Return whether a number only says which one of a kind: `look at page 3` sets nothing.

    Args:
        before: The sentence up to the number.
        value: The number.
        setting: Where the word stands that the number would be the value of.
    """
    found = [word for word in _WORD.finditer(before) if word[0] not in words().fillers]
    if not found or not value.strip(_EDGES).isdigit() or not before.endswith(f"{found[-1][0]} "):
        return False
    return setting > found[0].start()


def _merged_spans(sentence: str) -> list[tuple[int, int]]:
    """Return where values stand, with their units; neighbours such as day and time join."""
    spans: list[tuple[int, int]] = []
    for match in _SPACED.finditer(sentence):
        start, end = match.span()
        while end > start and sentence[end - 1] in ".,:/-":
            end -= 1
        unit = _UNIT.match(sentence, end)
        end = unit.end() if unit else end
        if spans and _BRIDGE.fullmatch(sentence, spans[-1][1], start):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _joined_subject(sentence: str, old: tuple[str, ...]) -> tuple[str, str]:
    spans = [
        span for span in _joined_spans(sentence) if sentence[slice(*span)].strip(_EDGES) not in old
    ]
    # A name in Latin letters beside a number belongs to what the number is of.
    values = [span for span in spans if not _LATIN.fullmatch(sentence, *span)] or spans
    if len(values) != 1:
        return "", ""
    [(start, end)] = values
    known = words()
    before, after = sentence[:start], sentence[end:]
    for value in old:
        before, after = before.replace(value, "", 1), after.replace(value, "", 1)
    subject = re.sub(r"[\W_]+", "", known.fillers_joined.sub("", before))
    rest = re.sub(r"[\W_]+", "", known.fillers_joined.sub("", after))
    fixed = f"{before} {subject}"
    is_set = known.settings["joined"].search(fixed) or known.limits["joined"].search(fixed)
    if not is_set or len(subject) > 16 or len(rest) > 4:
        return "", ""
    is_one_of_a_kind = _NUMBERED.fullmatch(sentence[max(0, start - 1) : end].strip(" "))
    if is_one_of_a_kind or re.match(r"也|还有|另外|또한|また", before):
        return "", ""
    return subject, sentence[start:end].strip(_EDGES)


def _joined_spans(sentence: str) -> list[tuple[int, int]]:
    """Return where values stand; a name and its number, or month and day, are one."""
    spans: list[tuple[int, int]] = []
    for match in _JOINED.finditer(sentence):
        start, end = match.span()
        if not match[0].strip(_EDGES):
            continue
        if spans and not sentence[spans[-1][1] : start].strip(" "):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans
