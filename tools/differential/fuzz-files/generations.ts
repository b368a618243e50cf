import { openTestModel } from '../../../src/text/testing/open-test-model.ts';
import { Chance, joined } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { type Json, JsonMutator } from './json-values.ts';

const ELEMENT_BYTES: Readonly<Record<string, number>> = { F32: 4, F16: 2, I8: 1, BF16: 2, F64: 8 };
const OPTIONS = [
  { temperature: 0, maxTokens: 12 },
  { temperature: 0.8, seed: 4, frequencyPenalty: 0.5, repetitionPenalty: 1.2, maxTokens: 12 },
  {
    temperature: 0.7,
    seed: 9,
    topK: 5,
    topP: 0.9,
    maxTokens: 20,
    stop: ['never'],
    logitBias: { 0: -100 },
  },
];
const KEYS = [
  'fingerprint',
  'prompt',
  'generated',
  'options',
  'length',
  'temperature',
  'overflow',
  'minP',
  'dtype',
  'shape',
  '__metadata__',
];
/** So often places fit the shapes again, and elements change. */
const FITTING = 0.8;
const CHANGED_DATA = 0.2;
const TOKENS = 2;

type Head = { [key: string]: Json };

interface Saved {
  readonly head: Head;
  readonly data: Uint8Array;
}

/** Saved generations with changes in their fields and caches, whose lengths are right. */
export async function generations(): Promise<FuzzTarget> {
  const model = await openTestModel('wasm');
  const files: Saved[] = [];
  for (const [i, options] of OPTIONS.entries()) {
    const generation = model.generate([5, 200, 311, 17].slice(0, 4 - i), options);
    let count = 0;
    for await (const _ of generation.tokens()) if (++count === 1 + 2 * i) break;
    files.push(takeApart(await generation.save()));
  }
  const mutator = new JsonMutator(
    files.map(({ head }) => head),
    KEYS,
  );
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      const { head, data } = chance.pick(files);
      const changed = mutator.mutate(head, chance, 4);
      const elements = chance.often(CHANGED_DATA) ? chance.mutate(data) : data;
      return putTogether(chance.often(FITTING) ? fitting(changed, data.length) : changed, elements);
    },
    run: async (bytes) => {
      const generation = await model.resume(bytes);
      let count = 0;
      for await (const _ of generation.tokens()) if (++count === TOKENS) break;
    },
  };
}

/** The text of the metadata becomes JSON, so that its fields change as those of the head do. */
function takeApart(bytes: Uint8Array): Saved {
  const end = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, end))) as Head;
  const metadata = head['__metadata__'] as { [key: string]: Json };
  metadata['text'] = JSON.parse(metadata['text'] as string) as Json;
  return { head, data: bytes.slice(end) };
}

function putTogether(head: Json, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const metadata = (Object(head) as Head)['__metadata__'];
  const text = (Object(metadata) as Head)['text'];
  const written =
    text === undefined || typeof text === 'string'
      ? head
      : { ...(head as Head), __metadata__: { ...(metadata as Head), text: JSON.stringify(text) } };
  const json = new TextEncoder().encode(JSON.stringify(written));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(json.length), true);
  return joined(length, json, data);
}

/** Tensors side by side, as long as their shapes say, as far as there are bytes. */
function fitting(head: Json, byteLength: number): Json {
  if (typeof head !== 'object' || head === null || Array.isArray(head)) return head;
  let end = 0;
  for (const [name, entry] of Object.entries(head)) {
    if (name === '__metadata__') continue;
    const { dtype, shape } = Object(entry) as {
      readonly dtype?: unknown;
      readonly shape?: unknown;
    };
    if (!Array.isArray(shape)) continue;
    const count = shape.reduce<number>((product, size) => product * Number(size), 1);
    const begin = end;
    end += count * (ELEMENT_BYTES[String(dtype)] ?? 1);
    (entry as Head)['data_offsets'] = [begin, end];
  }
  // A tensor takes what is left.
  if (end < byteLength)
    head['rest'] = { dtype: 'I8', shape: [byteLength - end], data_offsets: [end, byteLength] };
  return head;
}
