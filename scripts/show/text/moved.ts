import type { Checks } from './checks.ts';
import { BEGINS, DEVICES, NearTies, openStories, type ShownDevice, tokensOf } from './stories.ts';
import type { TextModel } from '../../../src/text/text-model.ts';

const SEEDS = 100;
const TOKENS = 24;
/** So many of them on the host, whose references take a tenth of a second for each. */
const HOST_TOKENS = 16;
/** Of which as many come before the text moves. */
const BEFORE = 11;
/** Seeds of texts that move. */
const MOVED = 20;

/** One seed gives one text on all devices, and a text that moves in its middle goes on as if it had stayed. */
export async function show(checks: Checks): Promise<void> {
  const models = new Map<ShownDevice, TextModel>();
  for (const device of DEVICES) models.set(device, await openStories(device));
  const modelOn = (device: ShownDevice): TextModel => {
    const model = models.get(device);
    if (model === undefined) throw new Error(`no model on ${device}`);
    return model;
  };
  const ties = new NearTies(modelOn('wasm'));
  const begin = (seed: number): string => BEGINS[seed % BEGINS.length] ?? '';
  const optionsOf = (seed: number, device: ShownDevice) => {
    return { temperature: 0.8, seed, maxTokens: device === 'host' ? HOST_TOKENS : TOKENS };
  };

  checks.section(
    `One seed, one text: ${SEEDS} seeds at temperature 0.8, ${TOKENS} tokens each, ${HOST_TOKENS} on the host`,
  );
  const expected: number[][] = [];
  for (let seed = 0; seed < SEEDS; seed++) {
    expected.push(await tokensOf(modelOn('wasm'), begin(seed), optionsOf(seed, 'wasm')));
  }
  for (const device of ['webgpu', 'host'] as const) {
    let [same, before] = [0, ties.count];
    for (const [seed, tokens] of expected.entries()) {
      const options = optionsOf(seed, device);
      const own = await tokensOf(modelOn(device), begin(seed), options);
      const wanted = tokens.slice(0, options.maxTokens);
      if (await ties.areSame(begin(seed), options, [wanted, own])) same++;
    }
    checks.check(
      same === SEEDS,
      `${device} as wasm: ${same} of ${SEEDS}, ${ties.count - before} of them part at a near tie`,
    );
  }

  checks.section(`A text that is saved after ${BEFORE} tokens and goes on elsewhere`);
  for (const [from, to] of [
    ['wasm', 'webgpu'],
    ['webgpu', 'wasm'],
    ['wasm', 'host'],
  ] as const) {
    let [same, moved, bytes, before] = [0, 0, 0, ties.count];
    for (let seed = 0; seed < MOVED; seed++) {
      const options = optionsOf(seed, to);
      const generation = modelOn(from).generate(begin(seed), options);
      const ids: number[] = [];
      for await (const { id } of generation.tokens()) {
        ids.push(id);
        if (ids.length === BEFORE) break;
      }
      if (generation.finishReason !== 'aborted') continue;
      const saved = await generation.save();
      bytes = saved.length;
      const resumed = await modelOn(to).resume(saved);
      for await (const { id } of resumed.tokens()) if (id >= 0) ids.push(id);
      moved++;
      const wanted = (expected[seed] ?? []).slice(0, options.maxTokens);
      if (await ties.areSame(begin(seed), options, [wanted, ids])) same++;
    }
    checks.check(
      same === moved && moved > 0,
      `${from} to ${to}: ${same} of ${moved} go on as they would have, ${ties.count - before} of them part ` +
        `at a near tie; a file of ${bytes} bytes`,
    );
  }
  await Promise.all([ties.dispose(), ...[...models.values()].map((model) => model.dispose())]);
}
