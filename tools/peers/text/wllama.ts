import { Checks } from '../../show/checks.ts';
import { compareModels, SHOWN_TYPES, USUAL_TYPES } from './wllama/compare-models.ts';
import { compareTemplates } from './wllama/compare-templates.ts';
import { compareTokens } from './wllama/compare-tokens.ts';
import { openPeer, type Peer } from './wllama/open-peer.ts';
import { shownModels } from './wllama/shown-models.ts';

/** The model that is shown in all types of elements, the others in the usual ones. */
const OF_ALL_TYPES = 'llama';

/**
 * `npm run show -- text [WORD …]`: tokens, templates and texts beside those of llama.cpp in wasm: all, or those that words
 * name, of these types or those of the words. Resolves to 0 only when all of it holds.
 */
export async function main(given: readonly string[]): Promise<number> {
  const checks = new Checks();
  const named = given.filter((word) => SHOWN_TYPES.includes(word));
  const words = given.filter((word) => !named.includes(word));
  const typesOf = (model: string): readonly string[] =>
    named.length > 0 ? named : model === OF_ALL_TYPES ? SHOWN_TYPES : USUAL_TYPES;
  const models = shownModels();
  const jobs: Readonly<Record<string, (peer: Peer) => Promise<void>>> = {
    tokens: (peer) => compareTokens(checks, peer),
    templates: (peer) => compareTemplates(checks, peer),
    ...Object.fromEntries(
      models.map((model) => [
        model.name,
        (peer: Peer) => compareModels(checks, peer, { model, types: typesOf(model.name) }),
      ]),
    ),
  };
  const unknown = words.filter((word) => !Object.hasOwn(jobs, word));
  if (unknown.length > 0) {
    console.error(
      `got ${unknown.join(', ')}, expected ${[...Object.keys(jobs), ...SHOWN_TYPES].join(', ')}`,
    );
    return 2;
  }
  const peer = await openPeer();
  try {
    for (const [name, job] of Object.entries(jobs)) {
      if (words.length === 0 || words.includes(name)) await job(peer);
    }
  } finally {
    await peer.close();
  }
  return checks.end();
}
