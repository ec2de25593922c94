# SPDX-License-Identifier: Apache-2.0
"""One module a command; `toolnotary_cli.main` finds each by its name and imports it when it is called."""
