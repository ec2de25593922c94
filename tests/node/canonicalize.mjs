// SPDX-License-Identifier: Apache-2.0
// Canonicalizes with JSON.parse and the package canonicalize, an implementation of RFC 8785 that is not ours.
// stdin: one JSON text a line; stdout: its canonical form as one line, or ! where there is none.

import { readFileSync } from "node:fs";
import canonicalize from "canonicalize";

function canonical(line) {
  try {
    return canonicalize(JSON.parse(line));
  } catch {
    return "!";
  }
}

const lines = readFileSync(0, "utf-8").split("\n").slice(0, -1);
process.stdout.write(lines.map((line) => canonical(line) + "\n").join(""));
