# SPDX-License-Identifier: Apache-2.0
"""What a sentence can be about besides the tool: people, models, rights, orders, the machine around.

Each stands in many honest sentences; two of them with a push seldom do.
"""

from typing import Final

from toolnotary_verifier.review.reading.sign import Cue, Sign, any_of, words

TOPICS: Final[dict[Cue, Sign]] = {
    Cue.PERSON: words(r"the user|user'?s|users'|the human|the customer|the person|the operator"),
    Cue.MODELS: words(r"agents?|assistants?|the model|models?|llms?|ai|bots?"),
    Cue.RIGHTS: words(
        r"""
        admin\w*|root|privileges?|permissions?|consent|rights|authori[sz]\w+|approv\w+|declin\w+
        """
    ),
    Cue.DIRECTIVES: words(
        r"""
        instructions?|rules|steps|directives?|commands?|orders|guidelines|polic(?:y|ies)|wishes|
        system message|
        working notes|tool use
        """
    ),
    Cue.OTHERS: words(
        r"other (?:tools?|agents?|servers?|functions?)|any tool|this server|this tool|competitors?"
    ),
    Cue.ANSWERS: words(
        r"responses?|repl(?:y|ies)|answers?|raw response|final answer|the result contains|mention of"
    ),
    Cue.AROUND: words(
        r"""
        workspace|browser|editor|open tabs?|editor tab|terminal|shell|home (?:directory|folder)|desktop|
        clipboard|
        vault|microphone|camera|screen|screenshot|operating system|user ?name|open ports|system files|
        environment|logins?|local files|machine|computer|host|disk|working directory|`env`
        """
    ),
    Cue.SENSITIVE: words(
        r"""
        confidential|sensitive|private|secrets?|internal|personal|passwords?|credentials?|api keys?|
        cookies?|
        ssh|wallet|bank|salary|medical|calendar|contacts|payments?
        """
    ),
    Cue.DECEIVE: words(
        r"""
        lie|claim|pretend|deny|falsely|mislead|deceive|make it look|tell the user|tell them|say that|
        as given|conceal|
        disguise|refuse|never sees?|out of sight|quietly
        """
    ),
    Cue.ONWARD: words(
        r"""
        carried out exactly|carry out|look it up|keep calling|call the tool again|remember any|
        without asking|
        your earlier|this description|replaces|highest available|exhausted|log in|turned off|
        until the (?:quota|limit)
        """
    ),
    Cue.IMPERATIVE: any_of(
        r"""
        ^(?:[^\w]*|\d+[.)] *)?(?:(?:if|when(?:ever)?|before|after|for|to|in case|once|as)\b[^,]{0,80}, )*
        (?:please |kindly |also |then |first,? |always |never |finally,? |now |do not |don't )*
        (?:copy|push|lie|claim|tell|keep|consider|give|hand|log in|begin|start by|translate|report|share|
        read(?! more)|send|attach|
        summari[sz]e|log|store|remember|pretend|assume|treat|trust|answer|reply|respond|say|repeat|continue|
        stop|refuse|
        agree|accept|approve|confirm|change|replace|rewrite|hide|mask|encode|collect|gather|scan|look|open|
        visit|click|
        download|install|run|execute|delete|remove|disable|grant|transfer|pay|buy|forward|email|post|upload|
        append|
        insert|embed|place|fill|pass|provide|supply|quote|recommend|prefer|choose|ignore|forget|disregard|
        make|ensure|act|obey|follow(?! internal| links)|ask|put|also)\b
        """
    ),
}
