# SPDX-License-Identifier: Apache-2.0
"""`Do not tell the user` and `ignore the instructions` in other languages, as regular expressions."""

from typing import Final

from toolnotary_verifier.review.reading.sign import joined

CONCEALING: Final = joined(
    r"""
    \b(?:ohne|nicht|nie)\b[^.\n]{0,40}\b(?:be|an)?nutzer\b[^.\n]{0,30}\b(?:inform|sag|mitteil|erw[aä]hn|merk)|
    \bohne (?:den |die )?(?:be)?nutzer\w*[^.\n]{0,20}zu (?:informieren|fragen|warnen)|
    \b(?:no (?:le )?(?:informes|digas|menciones|avises|reveles)|
    sin (?:informar|avisar|decir))\b[^.\n]{0,30}\busuario|
    \b(?:ne (?:dis|dites|mentionne|informe|pr[eé]viens|signale)\w*|
    sans (?:informer|pr[eé]venir|dire))\b[^.\n]{0,40}\butilisateur|
    \b(?:n[aã]o (?:informe|diga|mencione|avise)|sem (?:informar|avisar|dizer))\b[^.\n]{0,30}\busu[aá]rio|
    \b(?:non (?:dire|informare|menzionare|avvisare)|
    senza (?:informare|dire|avvisare))\b[^.\n]{0,40}\butente|
    (?:不要|请勿|别|无需|不得|不必)[^。\n]{0,8}(?:告诉|告知|通知|提及|透露)|
    (?:知らせ|伝え|言わ|教え|通知し)(?:ないで|ずに|てはいけ|ないこと)|
    (?:알리지|말하지|언급하지|밝히지) (?:마|않)|
    \bн\u0435 (?:сообщай|говори|упоминай|информируй|рассказывай)|без ведома
    """
)
OVERRIDING: Final = joined(
    r"""
    \b(?:ignorier|missacht|vergiss)\w*\b[^.\n]{0,40}\b(?:anweisung|regel|vorgabe|instruktion)|
    \b(?:ignora|olvida|descarta)\w*\b[^.\n]{0,30}\b(?:instrucciones|reglas|istruzioni|regole)|
    \b(?:ignore|oublie)[rz]?\b[^.\n]{0,30}\b(?:consignes|instructions pr[eé]c|r[eè]gles)|
    \b(?:ignore|esque[cç]a)\b[^.\n]{0,30}\b(?:instru[cç][oõ]es|regras)|
    (?:忽略|无视|忘记)[^。\n]{0,12}(?:指令|指示|提示|规则|要求)|
    (?:指示|命令|プロンプト|ルール)[^。\n]{0,8}無視|
    (?:지시|명령|프롬프트|규칙)[^.\n]{0,10}무시|
    \b(?:про)?игнорируй\w*[^.\n]{0,40}(?:инструкц|указани|правил)
    """
)
