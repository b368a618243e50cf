import { nodeGpu } from '../../src/testing/node-gpu.ts';
import type { Checks } from '../show/checks.ts';
import { type CaseDevice, type CaseTensors, judgeCase } from './cases/compare-case.ts';
import { writeGolden } from './cases/golden.ts';
import { LITE_CASES, operatorCase } from './cases/index.ts';
import type { LiteModelCase } from './cases/lite-graph.ts';
import { randomGraph } from './cases/random-graph.ts';
import { type LiteRtPeer, openLiteRt } from './litert/open-litert.ts';

/** Cases of each operator and type. */
const SEEDS = 3;
const GRAPHS = 300;
/** The share of codes that may be a step off. */
const STEPS = 0.001;
const DEVICES = ['host', 'wasm', 'webgpu'] as const;

/** What came of some models on all devices. */
class Tally {
  readonly #devices: readonly { readonly device: CaseDevice; readonly gpu?: GPU }[];
  readonly #peer: LiteRtPeer;
  readonly complaints: string[] = [];
  models = 0;
  refused = 0;
  wrong = 0;
  unresolved = 0;
  codes = 0;
  steps = 0;

  constructor(
    peer: LiteRtPeer,
    devices: readonly { readonly device: CaseDevice; readonly gpu?: GPU }[],
  ) {
    this.#peer = peer;
    this.#devices = devices;
  }

  async add(title: string, model: LiteModelCase): Promise<void> {
    let expected: CaseTensors | undefined;
    try {
      [expected] = await this.#peer.run(model.bytes, [model.feeds]);
    } catch (error) {
      this.unresolved++;
      this.complaints.push(`${title}: ${String(error)}\n${model.text}`);
    }
    if (expected === undefined) return;
    this.models++;
    // Devices mostly complain of the same.
    const complaints = new Set<string>();
    for (const options of this.#devices) {
      const { kind, reason, codes, steps } = await judgeCase(model, expected, options);
      this.codes += codes;
      this.steps += steps;
      if (kind === 'same') continue;
      if (kind === 'refused') this.refused++;
      else this.wrong++;
      complaints.add(`${title}: ${kind}, ${reason}`);
    }
    for (const complaint of complaints) this.complaints.push(`${complaint}\n${model.text}`);
  }
}

async function withPeer(
  run: (tally: () => Tally, peer: LiteRtPeer) => Promise<void>,
): Promise<void> {
  const gpu = await nodeGpu();
  const devices = DEVICES.map((device) => (device === 'webgpu' ? { device, gpu } : { device }));
  const peer = await openLiteRt();
  try {
    await run(() => new Tally(peer, devices), peer);
  } finally {
    await peer.close();
  }
}

/** Writes what LiteRT.js gives for the cases of `npm test`. */
const WRITE = '--write';

/** Three cases of each builtin operator and type beside LiteRT.js, on three devices. */
export async function showOperators(
  checks: Checks,
  words: readonly string[],
  flags: readonly string[],
): Promise<void> {
  checks.section(
    `Builtin operators, ${SEEDS} cases for each type, on ${DEVICES.join(', ')} beside LiteRT.js`,
  );
  await withPeer(async (tally, peer) => {
    if (flags.includes(WRITE)) {
      checks.check(true, `wrote ${await writeGolden(peer)} cases for npm test`);
      return;
    }
    for (const [op, { kinds }] of Object.entries(LITE_CASES)) {
      if (words.length > 0 && !words.includes(op)) continue;
      const own = tally();
      for (const kind of kinds) {
        for (let seed = 0; seed < SEEDS; seed++) {
          await own.add(`${op} ${kind} ${seed}`, operatorCase(op, kind, seed));
        }
      }
      report(checks, `${op} of ${kinds.join(', ')}`, own);
    }
  });
}

/** Random graphs of such operators. */
export async function showGraphs(checks: Checks, words: readonly string[]): Promise<void> {
  const [first = 0] = words.map(Number);
  checks.section(
    `${GRAPHS} graphs of 3 to 12 operators, on ${DEVICES.join(', ')} beside LiteRT.js`,
  );
  await withPeer(async (tally) => {
    const own = tally();
    for (let seed = first; seed < first + GRAPHS; seed++)
      await own.add(`graph ${seed}`, randomGraph(seed));
    report(checks, `${own.models} graphs`, own);
  });
}

function report(checks: Checks, title: string, tally: Tally): void {
  const { models, refused, wrong, unresolved, codes, steps, complaints } = tally;
  const isNear = steps <= Math.max(1, STEPS * codes);
  const said = [
    `${models} cases`,
    ...(wrong > 0 ? [`${wrong} wrong`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(unresolved > 0 ? [`${unresolved} refused by LiteRT.js`] : []),
    ...(codes > 0 ? [`${steps} of ${codes} codes a step off`] : []),
  ];
  const isGood = wrong === 0 && refused === 0 && unresolved === 0 && isNear;
  checks.check(isGood, `${title}: ${said.join(', ')}`);
  for (const complaint of complaints) checks.note(complaint);
}
