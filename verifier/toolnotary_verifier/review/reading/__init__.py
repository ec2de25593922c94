# SPDX-License-Identifier: Apache-2.0
"""What stands in text that came: sentences to the model, references, characters that nobody sees."""
