# SPDX-License-Identifier: Apache-2.0
"""`python -m toolnotary_cli` is `toolnotary`."""

import sys

from toolnotary_cli.entry import main

sys.exit(main())
