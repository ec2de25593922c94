// SPDX-License-Identifier: Apache-2.0
// Judges Sigstore bundles with @sigstore/verify, an implementation that is not ours.
// stdin: {"keys": {KEYID: PEM}, "bundles": [BUNDLE...]}; stdout: [{"accepted": true} | {"accepted": false, "why": TEXT}...]

import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundleFromJSON } from "@sigstore/bundle";
import { Verifier, toSignedEntity } from "@sigstore/verify";

const { keys, bundles } = JSON.parse(readFileSync(0, "utf-8"));

const trust = {
  certificateAuthorities: [],
  timestampAuthorities: [],
  tlogs: [],
  ctlogs: [],
  publicKey(hint) {
    if (!Object.hasOwn(keys, hint)) {
      throw new Error(`no key has the id ${hint}`);
    }
    return { publicKey: createPublicKey(keys[hint]), validFor: () => true };
  },
};

// Key mode has no log and no timestamp; what is left to check is form, key and signature.
const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });

function judge(document) {
  try {
    verifier.verify(toSignedEntity(bundleFromJSON(document)));
    return { accepted: true };
  } catch (error) {
    return { accepted: false, why: String(error.message) };
  }
}

process.stdout.write(JSON.stringify(bundles.map(judge)));
