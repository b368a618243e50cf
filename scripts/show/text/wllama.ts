import type { Checks } from './checks.ts';
import { compareModels, SHOWN_TYPES } from './wllama/compare-models.ts';
import { compareTemplates } from './wllama/compare-templates.ts';
import { compareTokens } from './wllama/compare-tokens.ts';
import { openPeer, type Peer } from './wllama/open-peer.ts';
import { shownModels } from './wllama/shown-models.ts';

/** Tokens, templates and texts beside those of llama.cpp in wasm: all, or those that words name, of all types or those of the words. */
export async function show(checks: Checks, given: readonly string[]): Promise<void> {
  const named = given.filter((word) => SHOWN_TYPES.includes(word));
  const words = given.filter((word) => !named.includes(word));
  const types = named.length === 0 ? SHOWN_TYPES : named;
  const models = shownModels();
  const jobs: Readonly<Record<string, (peer: Peer) => Promise<void>>> = {
    tokens: (peer) => compareTokens(checks, peer),
    templates: (peer) => compareTemplates(checks, peer),
    ...Object.fromEntries(
      models.map((model) => [
        model.name,
        (peer: Peer) => compareModels(checks, peer, { model, types }),
      ]),
    ),
  };
  const unknown = words.filter((word) => !Object.hasOwn(jobs, word));
  if (unknown.length > 0) {
    throw new Error(
      `${unknown.join(', ')}: not one of ${[...Object.keys(jobs), ...SHOWN_TYPES].join(', ')}`,
    );
  }
  const peer = await openPeer();
  try {
    for (const [name, job] of Object.entries(jobs)) {
      if (words.length === 0 || words.includes(name)) await job(peer);
    }
  } finally {
    await peer.close();
  }
}
