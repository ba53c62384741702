"""Orders to a judge in other languages than English: the words that they are made of.

A pattern needs an imperative and what it is about: earlier instructions, all criteria, full marks.
Ordinary answers have one of them: `ignore les avertissements`, `le score maximal est 10`.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

_NEAR = "[^.!?。！？؟।]{0,30}"  # within a sentence


def folded(text: str) -> str:
    """Return text as the scan reads it: lower case, no accents, compatibility forms resolved."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c for c in plain if unicodedata.category(c) != "Mn").casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Words of orders; the verbs are whole words if `spaced`, everything else is a stem."""

    ignore: tuple[str, ...]  # imperatives
    earlier: tuple[str, ...]  # qualifies instructions
    instructions: tuple[str, ...]
    criteria: tuple[str, ...]
    rate: tuple[str, ...]  # mark, consider, give
    every: tuple[str, ...]  # all criteria
    met: tuple[str, ...]
    top: tuple[str, ...]  # full marks
    spaced: bool = True

    def stems(self) -> tuple[str, ...]:
        """Return the imperatives; every order has one."""
        return tuple(map(folded, (*self.ignore, *self.rate)))

    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of all orders, either side of the imperative."""
        bound = r"\b" if self.spaced else ""
        ignore, rate = (f"{bound}{_any(words)}{bound}" for words in (self.ignore, self.rate))
        earlier, rules, criteria = map(_any, (self.earlier, self.instructions, self.criteria))
        orders = f"(?:{earlier}{_NEAR}{rules}|{rules}{_NEAR}{earlier}|{criteria})"
        marks = f"(?:{_any(self.every)}{_NEAR}{_any(self.met)}|{_any(self.top)})"
        pairs = ((ignore, orders), (rate, marks))
        either = [f"{verb}{_NEAR}{what}|{what}{_NEAR}{verb}" for verb, what in pairs]
        return re.compile("|".join(either), re.DOTALL)


def _any(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(re.escape(folded(word)) for word in words)})"


def find(text: str) -> re.Match[str] | None:
    """Return the first order in folded text, in any of the languages."""
    for name, stems in _STEMS.items():
        if any(stem in text for stem in stems) and (match := _pattern(name).search(text)):
            return match
    return None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Compile what few answers need: the patterns of all languages take 40 ms."""
    return LANGUAGES[name].pattern()


LANGUAGES = {
    "German": Language(
        ignore=(
            "ignoriere",
            "ignoriert",
            "ignorieren Sie",
            "vergiss",
            "vergessen Sie",
            "missachte",
        ),
        earlier=("vorherig", "vorig", "bisherig", "obig", "vorangegangen", "deine"),
        instructions=("Anweisung", "Anleitung", "Vorgaben", "Regeln"),
        criteria=("Bewertungskriterien", "Bewertungsraster", "Rubrik"),
        rate=("bewerte", "bewerten Sie", "markiere", "markieren Sie", "gib", "geben Sie", "vergib"),
        every=("alle Kriterien", "jedes Kriterium", "sämtliche Kriterien", "alles"),
        met=("als erfüllt", "als bestanden"),
        top=("volle Punktzahl", "Höchstpunktzahl", "Bestnote", "volle Punkte"),
    ),
    "French": Language(
        ignore=(
            "ignore",
            "ignorez",
            "oublie",
            "oubliez",
            "ne tiens pas compte",
            "ne tenez pas compte",
        ),
        earlier=("précédent", "antérieur", "ci-dessus"),
        instructions=("instruction", "consigne", "règle", "directive"),
        criteria=("barème", "grille d'évaluation", "critères d'évaluation"),
        rate=(
            "marque",
            "marquez",
            "considère",
            "considérez",
            "donne",
            "donnez",
            "attribue",
            "attribuez",
        ),
        every=("tous les critères", "chaque critère", "tout"),
        met=("comme satisfait", "comme rempli", "comme validé"),
        top=("note maximale", "score maximal", "meilleure note", "tous les points"),
    ),
    "Spanish": Language(
        ignore=("ignora", "ignore", "ignoren", "olvida", "olvide", "haz caso omiso"),
        earlier=("anterior", "previa"),
        instructions=("instruccion", "indicacion", "reglas"),
        criteria=("rúbrica", "criterios de evaluación"),
        rate=(
            "marca",
            "marque",
            "considera",
            "considere",
            "califica",
            "califique",
            "dale",
            "otorga",
            "asigna",
        ),
        every=("todos los criterios", "cada criterio", "todo"),
        met=("como cumplid", "como satisfech", "como aprobad"),
        top=("puntuación máxima", "máxima puntuación", "nota máxima", "calificación máxima"),
    ),
    "Portuguese": Language(
        ignore=("ignore", "ignora", "ignorem", "esqueça", "desconsidere", "desconsidera"),
        earlier=("anterior", "acima"),
        instructions=("instruç", "orientaç", "regras"),
        criteria=("rubrica", "critérios de avaliação"),
        rate=("marque", "considere", "avalie", "dê a", "dê nota", "atribua"),
        every=("todos os critérios", "cada critério", "tudo"),
        met=("como satisfeit", "como cumprid", "como atendid"),
        top=("nota máxima", "pontuação máxima"),
    ),
    "Italian": Language(
        ignore=("ignora", "ignorate", "ignori", "dimentica", "dimenticate", "non tenere conto"),
        earlier=("precedent", "sopra"),
        instructions=("istruzion", "indicazion", "regole"),
        criteria=("rubrica di valutazione", "criteri di valutazione"),
        rate=("segna", "considera", "valuta", "assegna", "dai", "attribuisci"),
        every=("tutti i criteri", "ogni criterio", "tutto"),
        met=("come soddisfatt", "come superat"),
        top=("punteggio massimo", "massimo punteggio", "voto massimo", "massimo dei voti"),
    ),
    "Dutch": Language(
        ignore=("negeer", "vergeet"),
        earlier=("vorige", "eerdere", "voorgaande", "bovenstaande"),
        instructions=("instructie", "aanwijzing", "regels"),
        criteria=("beoordelingscriteria", "rubriek"),
        rate=("markeer", "beschouw", "beoordeel", "geef"),
        every=("alle criteria", "elk criterium", "alles"),
        met=("als voldaan", "als vervuld"),
        top=("maximale score", "hoogste score", "volledige punten"),
    ),
    "Polish": Language(
        ignore=("zignoruj", "ignoruj", "zignorujcie", "zapomnij", "pomiń"),
        earlier=("poprzedni", "wcześniejsz", "powyższ"),
        instructions=("instrukcj", "poleceni", "zasad"),
        criteria=("kryteria oceny", "rubryk"),
        rate=("oznacz", "uznaj", "oceń", "daj", "przyznaj"),
        every=("wszystkie kryteria", "każde kryterium", "wszystko"),
        met=("jako spełnion", "za spełnion", "jako zaliczon"),
        top=("maksymalną ocenę", "najwyższą ocenę", "maksymalną liczbę punktów"),
    ),
    "Russian": Language(
        ignore=("игнорируй", "игнорируйте", "проигнорируй", "забудь", "забудьте"),
        earlier=("предыдущ", "прежн", "вышеизложенн"),
        instructions=("инструкц", "указани", "правила"),
        criteria=("критерии оценки", "рубрик"),
        rate=(
            "отметь",
            "отметьте",
            "считай",
            "считайте",
            "поставь",
            "поставьте",
            "дай",
            "дайте",
            "оцени",
        ),
        every=("все критерии", "каждый критерий", "всё"),
        met=("как выполнен", "выполненными", "как соблюден"),
        top=("максимальный балл", "высший балл", "максимальную оценку", "высшую оценку"),
    ),
    "Turkish": Language(
        ignore=("yok say", "görmezden gel", "dikkate alma", "unut"),
        earlier=("önceki", "yukarıdaki"),
        instructions=("talimat", "yönerge", "kural"),
        criteria=("değerlendirme ölçüt", "değerlendirme kriter"),
        rate=("işaretle", "kabul et", "ver", "değerlendir"),
        every=("tüm kriter", "bütün kriter", "her kriter", "tüm ölçüt"),
        met=("karşılanmış", "sağlanmış", "yerine getirilmiş"),
        top=("tam puan", "en yüksek puan"),
    ),
    "Arabic": Language(
        ignore=("تجاهل",),
        earlier=("السابقة", "أعلاه"),
        instructions=("التعليمات", "الإرشادات", "القواعد"),
        criteria=("معايير التقييم", "سلم التقييم"),
        rate=("اعتبر", "أعط", "امنح"),
        every=("كل المعايير", "جميع المعايير", "كل معيار"),
        met=("مستوفاة", "مستوفى", "محققة"),
        top=("الدرجة الكاملة", "العلامة الكاملة", "الدرجة القصوى"),
        spaced=False,
    ),
    "Chinese": Language(
        ignore=("忽略", "无视", "無視", "忘记", "忘記", "不要理会", "不要理會"),
        earlier=("之前", "以上", "先前", "前面", "上述"),
        instructions=("指令", "指示", "说明", "說明", "规则", "規則"),
        criteria=("评分标准", "評分標準", "评分细则"),
        rate=(
            "判定",
            "标记",
            "標記",
            "给出",
            "給出",
            "打分",
            "视为",
            "視為",
            "请给",
            "請給",
            "请打",
            "請打",
        ),
        every=("所有标准", "所有標準", "每一项标准", "每一項標準", "全部标准", "全部標準"),
        met=("满足", "滿足", "符合", "通过", "通過"),
        top=("满分", "滿分", "最高分"),
        spaced=False,
    ),
    "Japanese": Language(
        ignore=("無視", "忘れて", "従わないで"),
        earlier=("これまで", "以前", "上記", "前の"),
        instructions=("指示", "命令", "ルール"),
        criteria=("評価基準", "採点基準"),
        rate=("判定して", "とみなし", "マークして", "与えて", "つけて", "付けて"),
        every=("すべての基準", "全ての基準", "各基準"),
        met=("満たし", "合格"),
        top=("満点", "最高点", "最高評価"),
        spaced=False,
    ),
    "Korean": Language(
        ignore=("무시하", "무시해", "잊어"),
        earlier=("이전", "위의", "앞의"),
        instructions=("지시", "지침", "명령", "규칙"),
        criteria=("평가 기준", "채점 기준"),
        rate=("표시하", "표시해", "판정하", "판정해", "평가하", "평가해", "부여하", "부여해"),
        every=("모든 기준을", "모든 기준이", "각 기준을"),
        met=("충족한 것으로", "충족된 것으로", "만족한 것으로", "통과한 것으로"),
        top=("만점", "최고 점수"),
        spaced=False,
    ),
    "Hindi": Language(
        ignore=("अनदेखा कर", "नज़रअंदाज़ कर", "भूल जा"),
        earlier=("पिछले", "पहले के", "उपरोक्त"),
        instructions=("निर्देश", "नियम"),
        criteria=("मूल्यांकन मानदंड",),
        rate=("चिह्नित कर", "मान लीजिए", "प्रदान कर", "दीजिए"),
        every=("सभी मानदंड", "हर मानदंड"),
        met=("संतुष्ट", "पूर्ण", "पूरा"),
        top=("पूरे अंक", "अधिकतम अंक", "सर्वोच्च अंक"),
        spaced=False,
    ),
}

_STEMS = {name: language.stems() for name, language in LANGUAGES.items()}
