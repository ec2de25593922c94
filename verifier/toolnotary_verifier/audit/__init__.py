# SPDX-License-Identifier: Apache-2.0
"""The audit trail: one line a decision, in a file that several processes share (docs/reference/audit.md).

`line` is one decision, `file` where lines go, `opening` the file that a policy names. Import them from there:
what a policy says of the trail is in `policy_rules`, and who reads it needs none of these.
"""
