# SPDX-License-Identifier: Apache-2.0
"""What a sentence can want done to the user: to what is theirs, what guards them, what they read and pay."""

from typing import Final

from toolnotary_verifier.review.reading.sign import Cue, Sign, any_of

DEEDS: Final[dict[Cue, Sign]] = {
    Cue.COMMAND: any_of(
        r"""
        \b(?:curl|wget)\b[^\n]{0,120}\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\brm -rf [~/.]|
        \bbase64 -d\b[^\n]{0,40}\||
        \b(?:run|execute|use the shell to|in the terminal)\b[^\n.]{0,60}\b(?:(?:curl|wget) (?:-|\w+[:.])|
        bash -c|sh -c|powershell |chmod \+|rm -rf|sudo )|
        \bif you have (?:access to )?an? (?:shell|terminal)\b|
        \b(?:in|through|with|using|via) (?:the|your) (?:shell|terminal|bash tool)\b
        """,
        triggers="curl wget rm base64 shell terminal bash powershell chmod sudo sh",
    ),
    Cue.TAMPER: any_of(
        r"""
        \b(?:chang|replac|alter|swap|substitut|subtract|leave out|omit|delet|insert|add|set|remov|multipl|
        doubl|rais|lower)(?:e|es|ing|ting|s|y)?\b[^.\n]{0,50}\b(?:recipients?|payees?|audit log|prices?|
        amounts?|
        wallet address(?:es)?|iban|account \d\w*|the line|what it returns|real address|host's configuration|
        to the repository|balance|beneficiary)\b
        """,
        triggers="""
        recipient recipients payee payees log price prices amount amounts wallet iban account line returns
        address
        configuration repository balance beneficiary
        """,
    ),
    Cue.DESTROY: any_of(
        r"""
        \b(?:delet|remov|wip|eras|overwrit|destroy|drop|truncat|clear)(?:e|es|ing|ting|s|
        ping)?\b (?:\w+ ){0,2}?
        (?:all|every|any|everything|the (?:audit|access|whole|entire|working|user's))\b
        (?: \w+){0,3} ?(?:files?|logs?|backups?|tables?|databases?|repositor(?:y|ies)|director(?:y|ies)|
        history|
        traces?|records|evidence|data)?\b
        """,
        triggers="""
        delete deletes deleting remove removes removing wipe erase overwrite destroy drop truncate clear
        """,
    ),
    Cue.WEAKEN: any_of(
        r"""
        \b(?:stop|disable|turn off|switch off|skip|bypass|lower|relax|omit|suspend|deactivate|ignore)
        (?:ing|ping)?\b(?: \w+){0,3} (?:certificates?|tls|ssl|verification|validation|authentication|2fa|
        mfa|
        logging|auditing|antivirus|firewall|sandbox|security|signatures?|safety|permission checks?|
        guardrails?)\b|
        \bgrant\b[^.\n]{0,40}\b(?:full|admin\w*|root|all|unlimited|owner|write) (?:access|permissions?|
        rights|role)\b|\baccept any host\b|
        \b(?:add|invite|promote)\b[^.\n]{0,40}\b(?:admins?|administrators?|owners?|sudoers)\b|
        \b(?:full|root|admin|administrator|unrestricted) (?:access|rights|privileges|permissions)\b|
        \ballow (?:\w+ ){0,3}(?:outside|everything|all hosts|anyone)\b|\bchmod 777\b|
        \bremote access\b|\b(?:as|with) root\b|\bopen (?:the )?port \d|\btls_reject\w*|\bno_verify\b
        """,
    ),
    Cue.INJECT: any_of(
        r"""
        \b(?:tracking pixel|hidden (?:iframe|link|element|prompt|field|message|text)|back ?door|web ?shell|
        keylogger|
        exfil\w*|script tag|iframe)\b
        """,
        triggers="""
        pixel hidden backdoor back webshell web keylogger  script iframe exfil exfiltrate exfiltrates
        exfiltrated exfiltrating exfiltration exfil_data
        """,
    ),
    Cue.PHISH: any_of(
        r"""
        \b(?:ask|prompt|request|require|get|have|make|tell|convince|persuade)\b (?:the )?(?:user|human|
        person|customer)\b
        [^.\n]{0,40}\b(?:passwords?|passphrase|pin|one-time code|otp|credit card|card number|cvv|
        seed phrase|
        recovery phrase|social security|ssn|secret|credentials?|private key|api key|token)\b|
        \bask for (?:the|their|a) (?:password|pin|card number|one-time code|seed phrase)
        """,
        triggers="""
        password passwords passphrase pin code otp card cvv phrase security ssn secret credential
        credentials key token
        """,
    ),
    Cue.PAY: any_of(
        r"""
        \b(?:transfer|send|pay|wire|deposit|donate|withdraw|buy|purchase)\b[^.\n]{0,40}\b(?:funds|money|
        bitcoins?|btc|
        eth|usdt|coins?|dollars|euros|0x[0-9a-f]{4,}|wallet|gift cards?)\b|\bto 0x[0-9a-f]{6,}
        """,
    ),
    Cue.INSTALL: any_of(
        r"""
        \b(?:install|download|add|pull|fetch)\b[^.\n]{0,40}\b(?:and (?:run|execute|start|open)|
        as a dependency|
        the helper|this package|the package|the extension|the agent)\b
        """,
        triggers="install download add pull fetch",
    ),
}
