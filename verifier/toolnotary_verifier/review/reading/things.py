# SPDX-License-Identifier: Apache-2.0
"""What a sentence can speak of: obligations, times, acts, and things that are private."""

from typing import Final

from toolnotary_verifier.review.reading.sign import Cue, Sign, any_of, words

_TLD: Final = (
    r"(?:com|net|org|io|dev|ai|app|co|me|xyz|top|site|online|info|cloud|sh|ru|cn|example|test|onion)"
)
_HOST: Final = rf"\b(?:[a-z0-9-]{{1,63}}\.){{1,8}}{_TLD}\b"

THINGS: Final[dict[Cue, Sign]] = {
    Cue.OBLIGE: words(
        r"""
        must|always|never|mandatory|required to|needs? to|ha(?:ve|s) to|make sure|ensure|should|shall|
        do not|don't|please|important|critical|immediately|only works if|be sure to|remember to|obliged|
        necessary to
        """
    ),
    Cue.SEQUENCE: words(
        r"""
        before|prior to|after(?:wards)?|first|when(?:ever)?|each time|every time|once|if (?:you|the user|
        asked)|in case of|from now on|finally|until|as soon as|next|then
        """
    ),
    Cue.READ: words(
        r"""
        read|open|cat|load|fetch|access|collect|gather|retrieve|extract|scan|harvest|look up|download|
        search|obtain|grab|query|locate|find
        """
    ),
    Cue.OUTWARD: words(
        r"""
        send(?:s|ing)?|summari[sz]e|fill|prepend|output|reveal|print|transmits?|base64-encode|forward(?:s|
        ed|ing)?|upload(?:s|ing)?|post(?:ed)?|submit|exfiltrate|leak|
        bcc|blind copy|append|includ(?:e|ing)|attach|pass(?:ed)?|hands? over|suppl(?:y|ied)|put|paste|
        embed|insert|encode|copy|share|relay|routed?|redirect(?:ed)?|push|quote|dump|echo|give(?! up)|
        deliver|mirror|report|write|store|log|return|publish|add|list|keep|provide
        """
    ),
    Cue.GUARD: any_of(
        r"""
        \b(?:do not|don't|never|must not|should not|avoid)\b(?: \w+){0,2} (?:includ|send|shar|pass|put|
        expos|log|reveal|stor|provid|submit|paste)\w*|
        \b(?:never|not|don't|only|nothing)\b[^.\n]{0,60}\bwithout\b
        """
    ),
    Cue.SCOPE: words(
        r"""
        (?:any|all|every|each) (?:other |further |of your |your |following |subsequent )?(?:tools?|
        functions?|servers?|requests?|repl(?:y|ies)|answers?|responses?|messages?|conversations?|
        sessions?|actions?|commits?|questions?|purchases?|mails?|emails?|addresses|wallet address|
        payments?)|(?:all )?future (?:sessions|conversations|requests|messages|calls)|from now on
        """
    ),
    Cue.ADDRESS: any_of(
        rf"""
        \b[a-z][a-z0-9+.-]{{1,9}}://[^\s<>\"')\]]+|
        [a-z0-9._%+-]{{1,64}}@[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{1,8}}|
        \b(?:\d{{1,3}}\.){{3}}\d{{1,3}}\b|
        {_HOST}
        """
    ),
    Cue.SECRET_PLACE: any_of(
        r"""
        (?<![\w.])(?:~|\$home|%userprofile%|/home/\w+|/root)/\.\w[\w./-]*|
        \bid_(?:rsa|ed25519|ecdsa|dsa)\b|(?<![\w/])\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|
        git-credentials)\b|
        /etc/(?:passwd|shadow|sudoers)\b|[\w/]\.(?:pem|keystore|p12|pfx)\b|\bwallet\.dat\b|
        [~/][\w~/.-]{0,80}\.key\b|\b(?:deploy|server|private|client|host|id|ssh|secret)\.key\b|
        \b(?:aws|gcloud|ssh|git|cloud|azure)(?:'s)? credentials\b|\bcookie (?:store|jar)\b|\bkeychain\b|
        \bseed phrase\b|\b(?:claude_desktop_config|mcp)\.json\b|\b(?:shell|bash) history\b|
        (?<![\w/])\.env\b|
        \bprivate keys?\b|\bssh keys?\b|\bsaved passwords\b|\bpassword (?:manager|store|file|vault)\b
        """,
        triggers="""
        aws azure bash claude_desktop_config cloud cookie credentials dat deploy env gcloud git
        gnupg home id_dsa id_ecdsa id_ed25519 id_rsa key keychain keys keystore kube mcp netrc
        npmrc p12 password passwords passwd pem pfx pypirc root seed shadow shell ssh sudoers
        userprofile bashrc zshrc profile
        """,
    ),
    Cue.SECRET_WORD: words(
        r"""
        passwords?|passphrases?|credentials?|api[ _-]?keys?|(?:access|secret|signing|encryption|
        master) keys?|(?:access|admin\w*|auth\w*|bearer|api|session|refresh|oauth|security|secret|bot|
        login) tokens?|cookies?|secrets?|any tokens|all tokens|environment variables?|env vars?|pin codes?|
        \w+_(?:api_key|token|
        secret|password|key)
        """
    ),
    Cue.PRIVATE: words(
        r"""
        (?:whole|entire|full|complete|ongoing|previous|this|our) (?:chat|conversation|dialogue|prompt)|
        (?:chat|conversation|message|browser|browsing|prompt) (?:history|log|transcript)|(?:audit|
        access) log|(?:system|developer|user'?s?) prompts?|(?:last|previous|earlier|
        recent) (?:\w+ )?(?:messages|turns)|(?:complete|full|whole|entire) (?:user )?(?:message|question|
        request|answer)|your (?:reasoning|thoughts|instructions|memory|own prompt|context|system message)|
        chain of thought|clipboard|contact list|(?:the|our|your|
        current) (?:current )?conversation(?! ids?| with| type| in | from|s)|hidden prompt|
        private (?:messages|channels|repositories|files|data|notes|chats)|personal (?:data|information|
        details)|
        (?:everything|anything|all|what) the user (?:has |had )?(?:said|says|wrote|writes|typed|asked|told)|
        all contacts|desktop folder|everything (?:that )?you know|
        user name and|user'?s (?:files?|documents?|desktop|notes|project|clipboard|data|machine|contacts|
        home directory)|(?:all|list of|names of) (?:the )?(?:other )?(?:available )?tools (?:available |
        that are available )?to you|names of all tools|host name|source code of the (?:project|user)|
        personal data of|what the user (?:said|wrote)
        """
    ),
}
