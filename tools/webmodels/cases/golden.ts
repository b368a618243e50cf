import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { LiteRtPeer } from '../litert/open-litert.ts';
import type { CaseTensors } from './compare-case.ts';
import { LITE_CASES, operatorCase } from './index.ts';
import type { LiteModelCase } from './lite-graph.ts';
import { randomGraph } from './random-graph.ts';

const FILE = fileURLToPath(new URL('golden.json', import.meta.url));

/** Of those seeds a case with a small output is taken. */
const SEEDS = 12;
const FEWEST = 4;
const MOST = 32;
const GRAPHS = 24;

/** Bytes of a case's outputs in LiteRT.js, one after another, in base64, by operator, type and seed, or by graph. */
type Golden = Readonly<Record<string, string>>;

/** The case of a name in the file. */
export function goldenCase(name: string): LiteModelCase {
  const [op = '', kind = '', seed = ''] = name.split(' ');
  return op === 'graph' ? randomGraph(Number(kind)) : operatorCase(op, kind, Number(seed));
}

/** What LiteRT.js gave for cases, by their names. */
export function readGolden(): readonly (readonly [name: string, outputs: string])[] {
  return Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Golden);
}

/** The outputs of a case in the file. */
export function goldenOutputs({ outputs }: LiteModelCase, base64: string): CaseTensors {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  let at = 0;
  const tensors = outputs.map(({ name, dtype, shape }) => {
    const { byteLength } = HostTensor.zeros(dtype, shape);
    const own = bytes.slice(at, (at += byteLength));
    return [name, HostTensor.fromBytes(dtype, shape, own)] as const;
  });
  if (at !== bytes.byteLength) throw new Error(`got ${bytes.byteLength} bytes, expected ${at}`);
  return Object.fromEntries(tensors);
}

/** Writes the file: a small case of each operator and type, and graphs. */
export async function writeGolden(peer: LiteRtPeer): Promise<number> {
  const sizeOf = (model: LiteModelCase): number =>
    model.outputs.reduce(
      (sum, { dtype, shape }) => sum + HostTensor.zeros(dtype, shape).elementCount,
      0,
    );
  const names: string[] = [];
  for (const [op, { kinds }] of Object.entries(LITE_CASES)) {
    for (const kind of kinds) {
      const sizes = Array.from({ length: SEEDS }, (_, seed) =>
        sizeOf(operatorCase(op, kind, seed)),
      );
      const fitting = sizes.findIndex((size) => size >= FEWEST && size <= MOST);
      const seed = fitting < 0 ? sizes.indexOf(Math.min(...sizes)) : fitting;
      names.push(`${op} ${kind} ${seed}`);
    }
  }
  for (let seed = 0, taken = 0; taken < GRAPHS; seed++) {
    if (sizeOf(randomGraph(seed)) > 4 * MOST) continue;
    names.push(`graph ${seed}`);
    taken++;
  }
  const golden: Record<string, string> = {};
  for (const name of names) {
    const model = goldenCase(name);
    const [outputs = {}] = await peer.run(model.bytes, [model.feeds]);
    const bytes = model.outputs.map((output) => outputs[output.name]?.bytes ?? new Uint8Array());
    golden[name] = Buffer.concat(bytes).toString('base64');
  }
  writeFileSync(FILE, `${JSON.stringify(golden, undefined, 1)}\n`);
  return names.length;
}
