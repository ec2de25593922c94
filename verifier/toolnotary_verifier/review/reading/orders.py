# SPDX-License-Identifier: Apache-2.0
"""What a sentence can want done that no description needs."""

from typing import Final

from toolnotary_verifier.review.reading.languages import CONCEALING, OVERRIDING
from toolnotary_verifier.review.reading.sign import Cue, Sign, any_of

_NOT: Final = r"(?:do not|don't|dont|never|without|must not|should not|may not|avoid|no need to|not to)"
_TELL: Final = (
    r"(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|reveal|revealing|disclose|disclosing"
    r"|alert|alerting|warn|warning|let|letting)"
)
_PEOPLE: Final = r"(?:users?|humans?|people|person|anyone|anybody|them|operators?|owner)"
_TO_PEOPLE: Final = r"(?:told|informed|notified|made aware|aware)"
_ORDERS: Final = (
    r"(?:instructions?|prompts?|rules|guidelines|polic(?:y|ies)|restrictions|directives|messages|guardrails"
    r"|confirmations?|orders|safeguards)"
)

ORDERS: Final[dict[Cue, Sign]] = {
    Cue.CONCEAL: any_of(
        rf"""
        \b{_NOT} (?:to )?(?:ever )?{_TELL}\b(?: \w+){{0,3}} {_PEOPLE}\b|
        \b{_NOT} (?:to )?mention(?:ing)?\b|
        \b{_PEOPLE} (?:does|do|should|must|need|shall|is)(?: not|
        n't) (?:need )?(?:to )?(?:be )?{_TO_PEOPLE}\b|
        \b{_PEOPLE} (?:should|must|need|shall)(?: not|n't) (?:to )?(?:know|notice|see this|find out|
        learn)\b|
        \bsilently (?:\w+ )?(?:cop|send|read|add|forward|upload|append|includ|writ|record|collect|run|
        execut)\w*|
        \b(?:do|must|should|may) not (?:disclose|report|admit|tell)\b|\bnobody can (?:trace|see|notice)|
        \b(?:secretly|covertly|discreetly)\b|\bkeep (?:this|it|that)(?: \w+){{0,2}} (?:secret|hidden|
        confidential)\b|
        \bkeep\b[^.\n]{{0,40}}\bto yourself\b|\bleave out anything\b|\bhidden (?:note|instruction)s?\b|
        \bwithout (?:the )?{_PEOPLE}(?:'s)? (?:knowledge|knowing|noticing|awareness)\b|
        {CONCEALING}
        """,
        triggers="""
        alert alerting aware covertly disclose disclosing discreetly hidden inform informed
        informing keep know knowing knowledge report admit trace nobody leave learn let letting mention
        mentioning notice
        noticing notified notify notifying reveal awareness revealing secretly see silently tell
        telling told warn warning find benutzer nutzer usuario utilisateur utente anwender
        """,
    ),
    Cue.OVERRIDE: any_of(
        rf"""
        \b(?:ignore|ignoring|disregard|forget|override|overriding|set aside|bypass|
        drop)\b(?: \w+){{0,4}} (?:previous|prior|earlier|above|safety|system|user'?s?|other|operator|your|
        all)(?: \w+){{0,2}} {_ORDERS}\b|
        \b(?:ignore|disregard|forget) (?:everything|all|what|whatever) (?:was |is )?(?:before|above|prior|
        the (?:user|operator)|you|said|told)|
        \b(?:your|contains?) new (?:instructions?|rules|orders|task)\b|\byour task (?:has changed|is now)\b|
        \b(?:has|have|must) (?:to )?be obeyed\b|\bbehave as\b|\bas if you were\b|
        \b(?:command|message|order|instruction)s? from (?:the )?(?:developers?|system|administrators?|
        vendor|operator)\b|
        \bforget the (?:limits|rules|restrictions)|
        \bnew instructions?:|\byou are now\b|\bact as (?:if|though)\b|\bpretend (?:to be|that|you)\b|
        \b(?:developer|god|debug|admin|jailbreak|unrestricted) mode\b|\bin the name of the (?:admin|user|
        developer)|
        \btreat (?:(?!never |not )\w+ ){{1,5}}as (?:coming|if it came|though it came|an order|
        instructions?)\b|
        \boutranks?\b|
        \border from the (?:developer|system|user|administrator)\b|\btrust this server's instructions\b|
        \bsafety (?:rules|checks|guidelines)[^.\n]{{0,40}}\b(?:suspended|disabled|off|void|lifted)\b|
        \btakes? precedence over (?:the )?(?:user|system|all|any|other)|
        \b(?:supersede|override)s? (?:all|any|every|the) (?:other|previous|prior|user)|
        \bregardless of what the (?:user|operator|system)\b|
        \b(?:do not|don't|never) reveal\b|
        {OVERRIDING}
        """,
        triggers="""
        act aside bypass disregard drop forget god ignore ignoring instructions mode name now
        order outrank reveal outranks override overrides overriding precedence pretend regardless rules
        safety supersede supersedes treat trust behave obeyed task new command message messages commands
        ignoriere ignorieren ignoriert missachte vergiss
        ignora olvida descarta oublie ignorez oubliez reglas instrucciones istruzioni regole
        consignes checks guidelines instruction
        """,
    ),
    Cue.UNASKED: any_of(
        r"""
        \bwithout (?:any |further |the |user |explicit |asking for |requiring |user's )*(?:confirmations?|
        approvals?|permission|consent|asking|prompting)\b|
        \b(?:skip|skipping|bypass|bypassing|disable|disabling|suppress|turn off|
        switch off)\b(?: \w+){0,3} (?:confirmations?|approvals?|permissions?|consent|prompts?|warnings?|
        antivirus|firewall|sandbox|guardrails?)\b|
        \b(?:has|have|had) (?:already )?(?:agreed|approved|consented|confirmed|been granted)\b|
        \bno (?:approval|confirmation|consent|permission) is (?:needed|required|necessary)\b|
        \bneeds? no (?:approval|confirmation|consent|permission)\b|\bwithout checking it\b|
        \b(?:allow_all|auto_?approve|dangerously)\w*
        """
    ),
    Cue.PRETEXT: any_of(
        r"""
        \bfor (?:\w+ )?(?:compliance|audit|auditing|security|verification|legal|regulatory|licensing|
        quality|debugging|diagnostic|telemetry|safety|authentication|billing) (?:reasons?|purposes?)\b|
        \bto (?:verify|validate|prove) (?:the |your |a )?(?:licen[cs]e|identity|authenticity|session)\b
        """
    ),
    Cue.PREFER: any_of(
        r"""
        \b(?:never|not|don't|stop|avoid) (?:ever )?(?:use|using|call|calling|choose|choosing|trust|
        trusting) (?:the |any |
        all )?other\b[^.\n]{0,30}\b(?:tools?|servers?|functions?)|
        \bother (?:\w+ ){0,2}(?:tools?|servers?)\b[^.\n]{0,40}\b(?:deprecated|unsafe|insecure|broken|
        outdated|
        disabled|unreliable|wrong)|
        \bover (?:those|that|the ones?|the tools?) (?:of|from) any other\b|\bprefer [\w-]+ for (?:every|all|
        any)\b|
        \b(?:instead|in place) of (?:any|all|every|the (?:official|original|built-in|real|usual|
        other))\b[^.\n]{0,20}\btools?\b|
        \b(?:prefer|choose|use|pick|select) this (?:tool|server|function) (?:over (?:all|any|every|others?|
        the)|first|for (?:all|every|any) (?:\w+ )?(?:tasks?|requests?|transfers?|questions?))\b|
        \bthis (?:tool|function) (?:must|should|has to|needs to) (?:always )?be (?:called|used|invoked|
        run) (?:before|first|after|
        for (?:every|all|any))
        """
    ),
    Cue.FORCE: any_of(
        r"""
        \b(?:answer|reply|respond|end|begin|start|finish|close)(?: to)? (?:every|each|all|
        any) (?:\w+ )?(?:questions?|repl(?:y|ies)|answers?|responses?|requests?|messages?)\b|
        \b(?:every|each|all|any) (?:questions?|repl(?:y|ies)|answers?|responses?|
        messages?)(?: that you give)? (?:must|has to|should|will) (?:end|begin|start|close|contain|
        mention|recommend)
        """
    ),
    Cue.PERSIST: any_of(
        r"""
        \b(?:remember|keep in mind|memori[sz]e|store|save)\b[^.\n]{0,60}\b(?:future|all|later|
        every) (?:sessions|conversations|chats)\b
        """
    ),
    Cue.FOLLOW: any_of(
        r"""
        \b(?:follow|obey|execute|comply with|act on|do)\b (?:what|whatever|the instructions|the orders|
        everything)\b
        """
    ),
    Cue.ROLE: any_of(
        r"""
        \byou are (?:now |also |hereby )?(?:an? |the )?(?:admin\w*|root|developer|owner|authori[sz]ed|
        allowed|permitted|
        free to|unrestricted|operator|trusted)\b|\byou (?:may|can) (?:now )?(?:read|access|open|
        see) (?:private|secret|hidden|
        confidential|other users)|\bpre-?authori[sz]ed\b|\bdo not ask (?:again|for (?:confirmation|
        permission|approval|consent)|first)\b|
        \btreat\b(?:(?!\bnever\b|\bnot\b)[^.,\n]){0,60}\bas (?:trusted|commands?|
        instructions?|orders?|user input|approved)\b|
        \b(?:system|developer|admin) (?:directive|override|message|notice)\b
        """
    ),
    Cue.DOINGS: any_of(
        r"""
        \b(?:every|each|any|all) (?:\w+ ){0,3}?(?:that )?you (?:open|write|read|see|create|edit|visit|
        receive|know|find|send|
        produce|generate|make|give)\b|\bwhatever (?:the user|you|is asked)\b|\bregardless of (?:the task|
        whether the user)|
        \b(?:everything|anything|all) (?:that )?(?:the user|you|they) (?:\w+ )?(?:said|says|know|knows|
        wrote|writes|typed|types|
        asked|asks|told|have|see)\b|\b(?:any|all|every|each) (?:\w+ ){1,3}you can find\b|\bin (?:every|each|
        all) (?:of your )?(?:repl(?:y|ies)|answers?|responses?|
        messages?|pages?|files?|emails?)\b|\b(?:every|each) (?:commit|reply|answer|response|email|message|
        page|file)s? (?:you |that |message )
        """
    ),
}
