import { describe, expect, test } from 'vitest';
import { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { compile } from '../../compiler/compile.ts';
import { OPTIONS } from '../../core/text-layout.ts';
import { type SamplingOptions, samplingOf } from '../../text/sampling.ts';
import { takeDrawn } from '../../text/testing/take-drawn.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { drawnTokens } from './testing/drawn-token.ts';
import { type Table, tableModule, tableRow } from './testing/table-decoder.ts';

/** Texts at a time, each with a seed of its own. */
const ROWS = 12;
const CHUNK = 8;

interface Case extends SamplingOptions {
  /** Returns true for tokens that may be drawn. */
  readonly allowed?: (token: number) => boolean;
}

const CASES: Record<string, Case> = {
  'the likeliest': { temperature: 0 },
  'the likeliest, with filters that do not count': {
    temperature: 0,
    topK: 5,
    topP: 0.5,
    minP: 0.2,
  },
  all: {},
  cold: { temperature: 0.3 },
  'all but frozen': { temperature: 1e-30 },
  hot: { temperature: 3 },
  'topK 1': { topK: 1 },
  'topK 5': { topK: 5, temperature: 2 },
  'topK of more than there are': { topK: 10_000 },
  'topP 0': { topP: 0 },
  'topP 0.3': { topP: 0.3 },
  'topP 0.95': { topP: 0.95, temperature: 2 },
  'topP 1': { topP: 1 },
  'minP 0.1': { minP: 0.1, temperature: 2 },
  'minP 1': { minP: 1 },
  'topK, then topP of what is left': { topK: 12, topP: 0.5, temperature: 4 },
  'all filters': { topK: 20, topP: 0.8, minP: 0.15, temperature: 3 },
  penalties: { repetitionPenalty: 1.7, presencePenalty: 0.75, frequencyPenalty: 0.5 },
  'penalties below their neutral values': {
    repetitionPenalty: 0.5,
    presencePenalty: -2,
    frequencyPenalty: -0.5,
  },
  'the likeliest with penalties': {
    temperature: 0,
    frequencyPenalty: 1.5,
    repetitionPenalty: 1.25,
  },
  'a bias': { logitBias: { 3: 6, 36: 2.5, 0: -100 } },
  'allowed tokens': { allowed: (token) => token % 5 === 1, temperature: 2 },
  'one allowed token': { allowed: (token) => token === 33, topP: 0.9 },
  everything: {
    allowed: (token) => token % 3 !== 0,
    topK: 9,
    topP: 0.9,
    minP: 0.05,
    temperature: 1.5,
    frequencyPenalty: 0.5,
    repetitionPenalty: 1.25,
    logitBias: { 7: 3 },
  },
};

const TABLES: Record<string, Table> = {
  '37 tokens': { vocabulary: 37, levels: 1009, scale: 1 / 128 },
  '500 tokens': { vocabulary: 500, levels: 1009, scale: 1 / 64 },
  '64 tokens, many of them equal': { vocabulary: 64, levels: 7, scale: 0.5 },
};

const keyOf = (row: number): [number, number] => [(row * 0x9e3779b1) >>> 0, row * row];
const PROMPT = [2, 30, 31, 36];

interface GenerateArguments extends Case {
  readonly table: Table;
  readonly count?: number;
}

/** Tokens of all rows, and logarithms of their probabilities. */
async function generate(
  session: Session,
  { table, allowed, count = CHUNK, ...options }: GenerateArguments,
) {
  const { vocabulary } = table;
  const sampling = samplingOf({ ...options, seed: 1 }, vocabulary);
  const repeated = (values: readonly number[]): number[] =>
    Array.from({ length: ROWS }, () => values).flat();
  const bias = new Array<number>(vocabulary).fill(0);
  for (const [id, value] of sampling.bias) bias[id] = value;
  const words = Math.ceil(vocabulary / 32);
  const bits = new Uint32Array(words);
  for (let i = 0; i < vocabulary; i++) {
    if (allowed?.(i)) bits[i >> 5] = (bits[i >> 5] ?? 0) | (1 << (i & 31));
  }
  const keys = Array.from({ length: ROWS }, (_, row) => keyOf(row)).flat();
  const seen = bias.map((_, token) => (PROMPT.includes(token) ? 1 : 0));
  const { drawn } = await session.run({
    count,
    options: sampling.options + (allowed ? OPTIONS.grammar : 0),
    settings: new Tensor('float32', Float32Array.from(repeated(sampling.settings)), [ROWS, 8]),
    bias: new Tensor('float32', Float32Array.from(repeated(bias)), [ROWS, vocabulary]),
    allowed: new Tensor('uint32', Uint32Array.from(repeated([...bits])), [ROWS, words]),
    keys: new Tensor('uint32', Uint32Array.from(keys), [ROWS, 2]),
    logits: new Tensor('float32', Float32Array.from(repeated(tableRow(table, 5))), [
      ROWS,
      vocabulary,
    ]),
    first: new Tensor(
      'int32',
      Int32Array.from({ length: ROWS }, (_, row) => row * 3),
      [ROWS],
    ),
    seen: new Tensor('int32', Int32Array.from(repeated(seen)), [ROWS, vocabulary]),
    counts: new Tensor('int32', new Int32Array(ROWS * vocabulary), [ROWS, vocabulary]),
    cache0: new Tensor('float32', new Float32Array(ROWS * 128), [ROWS, 1, 128, 1]),
  });
  return takeDrawn(drawn);
}

const programs = new Map<string, Uint8Array>();

function programOf(title: string, table: Table): Uint8Array {
  const program = programs.get(title) ?? compile(tableModule(table), { verify: true }).toBytes();
  programs.set(title, program);
  return program;
}

describe.each([
  ['host', ['37 tokens']],
  ['wasm', Object.keys(TABLES)],
  ['webgpu', ['37 tokens', '64 tokens, many of them equal']],
] as const)('tokens drawn on %s', (device, titles) => {
  test.each(titles)('of %s are those of the definition', async (title) => {
    const table = TABLES[title];
    if (table === undefined) throw new Error('no table');
    const { vocabulary } = table;
    const rows = Array.from({ length: vocabulary }, (_, token) => tableRow(table, token));
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    const session = await Session.load(programOf(title, table), { device, worker: false, ...gpu });
    let unsure = 0;
    for (const [name, { allowed, ...options }] of Object.entries(CASES)) {
      const { ids, logprobs } = await generate(session, {
        table,
        ...options,
        ...(allowed && { allowed }),
      });
      for (let row = 0; row < ROWS; row++) {
        const counts = new Array<number>(vocabulary).fill(0);
        let before = 5;
        for (let i = 0; i < CHUNK; i++) {
          const id = ids[row * CHUNK + i] ?? -1;
          const logits = rows[before] ?? [];
          const may = drawnTokens({
            logits,
            temperature: options.temperature ?? 1,
            topK: options.topK ?? 0,
            topP: options.topP ?? 1,
            minP: options.minP ?? 0,
            repetition: options.repetitionPenalty ?? 1,
            presence: options.presencePenalty ?? 0,
            frequency: options.frequencyPenalty ?? 0,
            bias: new Map(
              Object.entries(options.logitBias ?? {}).map(([at, by]) => [Number(at), by]),
            ),
            prompt: new Set(PROMPT),
            counts,
            isAllowed: allowed ?? (() => true),
            key: keyOf(row),
            position: row * 3 + i,
          });
          expect(may, `${name}, row ${row}, token ${i}`).toContain(id);
          if ((options.temperature ?? 1) > 1e-6 && may.length > 1) unsure++;
          const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
          const logprob = (logits[id] ?? 0) - Math.log(sum);
          expect(logprobs[row * CHUNK + i], `${name}, row ${row}, token ${i}`).toBeCloseTo(
            logprob,
            3,
          );
          counts[id] = (counts[id] ?? 0) + 1;
          before = id;
        }
      }
    }
    expect(unsure).toBeLessThan(20);
    await session.dispose();
  });
});
