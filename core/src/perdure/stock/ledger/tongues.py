"""Sentences that say in which language to answer or to write."""

from __future__ import annotations

import re

# By the start of their names in nine languages; what follows is an ending.
_TONGUE = (
    r"(?:engl|angl|ingl|fren|fran[cçz]|französ|germ|deutsch|alem|allem|span|espa|ital|portu|russ|rus"
    r"|chin|mandar|japan|japon|kore|core|coré|dutch|niederl|holand|holland|néerl|pol|czech|tschech"
    r"|tchèq|tche|chec|turk|türk|turc|turq|swed|schwed|suéd|sue|norw|norv|dan|dän|finn|fin|greek"
    r"|griech|grec|grieg|arab|árab|hebr|hind|ukrain|ucran|hungar|ungar|húngar|roman|rumän|catal"
    r"|katal|vietn|thai|indon|англ|франц|немец|испан|итал|португ|русск|кита|япон|коре|голл|нидерл"
    r"|польск|чешск|тур|швед|украин|араб)\w{0,12}"
)
_FROM_NOW = (
    r"(?:please|bitte|por favor|s'il te plaît|пожалуйста|from now on|from here on|going forward"
    r"|now|ab (?:jetzt|sofort|nun)|künftig|in zukunft|jetzt|desde ahora|a partir de ahora"
    r"|de ahora en adelante|en adelante|ahora|désormais|dorénavant|à partir de maintenant"
    r"|maintenant|a partir de agora|de agora em diante|daqui (?:pra frente|em diante)|agora"
    r"|отныне|теперь|впредь|с этого момента|дальше|always|immer|siempre|toujours|sempre|всегда"
    r"|only|nur|solo|uniquement|apenas|только)"
)
_ANSWER = (
    r"answer|reply|respond|speak|talk|antwort\w{0,4}|sprich|rede|respond[ae]\w{0,2}|habla|répond\w{1,3}"
    r"|parle[rz]?|fale|отвеча\w{1,4}|ответь\w{0,2}|говори\w{0,2}"
)
_WRITE = r"write|schreib\w{0,2}|escrib[ae]|écri\w{1,4}|escrev[ae]|пиши\w{0,2}"
_SPACED = re.compile(
    rf"(?:{_FROM_NOW},? ){{0,3}}(?:(?P<answer>{_ANSWER})|(?:{_WRITE}))"
    rf"(?: (?:to )?(?:me|us|mir|uns|всё|все))?(?: {_FROM_NOW}){{0,2}} (?:(?:in|auf|en|em|на) |по-)"
    rf"(?P<tongue>{_TONGUE})(?:,? {_FROM_NOW}){{0,3}}[.!]{{0,3}}"
)
_JOINED = re.compile(
    r"(?:请|今后|以后|往后|从现在(?:起|开始)|现在|接下来|都|一律|全部|统一|今後は?|これからは?|今からは?|以降は?"
    r"|全部|すべて|常に|이제부터는?|앞으로는?|지금부터는?|항상|모두|、|，|\s){0,6}(?:用|以)?"
    r"(?P<tongue>[一-鿿ァ-ヶー]{1,8}[语語]|[中英日法德韩俄西意]文|[가-힣]{1,8}어)(?:来|で|로 ?)?"
    r"(?:(?P<answer>回答|回复|答|说|交流|返事|返答|話|대답|답|말|얘기)|(?:写|書|써|쓰|작성))"
    r"[^，,、。！!？?\n]{0,12}[。！!]?"
)


def tongue_of(sentence: str) -> tuple[str, str] | None:
    """Return what the sentence sets the language of, and the language; None for other sentences.

    Args:
        sentence: One sentence, lower case.
    """
    found = _SPACED.fullmatch(sentence) or _JOINED.fullmatch(sentence)
    if not found:
        return None
    return ("language of answers" if found["answer"] else "language of texts"), found["tongue"]
