# SPDX-License-Identifier: Apache-2.0
"""The audit trail: one line a decision, in a file that several processes share (docs/reference/audit.md).

`rules` is what a policy says of it, `line` one decision, `file` where lines go. Import them from there: who
reads a policy needs no more than the first.
"""
