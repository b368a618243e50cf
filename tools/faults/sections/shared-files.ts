import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type InputValue, type LoadOptions, Session, Tensor } from '../../../src/client/index.ts';
import { type DType, dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { numbersOf } from '../../../src/tasks/results/numbers.ts';
import { asInput, type CaseValue, fromOutput } from '../../../src/testing/case-values.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';
import { openGguf } from '../../../src/frontend/decoders/architectures/open-decoder.ts';
import { type GgufHead, readGguf } from '../../../src/frontend/decoders/files/gguf.ts';
import { reasonOf, readValues, summarizeModel } from '../../conformance/conformance-case.ts';
import { findCases } from '../../conformance/find-cases.ts';
import { caseReader } from '../../conformance/engines/node-engine.ts';
import type { Row } from './row.ts';

/** Inputs that failed once; each folder with what it must give. */
const FOLDER = resolve('../shared/faults');
const MAX_SECONDS = 60;

interface Data {
  readonly name: string;
  readonly inputs: Readonly<Record<string, InputValue>>;
  readonly wanted: Readonly<Record<string, readonly number[]>>;
}

/** The rows of `../shared/faults`, where it is, each on every device that Node has. */
export async function sharedFiles(): Promise<readonly Row[]> {
  if (!existsSync(FOLDER)) return [{ title: FOLDER, wanted: 'there', got: 'not there', ok: true }];
  const gpu = await nodeGpu();
  const devices: readonly LoadOptions[] = [
    { device: 'host' },
    { device: 'wasm' },
    { device: 'webgpu', gpu },
  ];
  const folders = readdirSync(FOLDER).filter((name) =>
    existsSync(join(FOLDER, name, 'model.onnx')),
  );
  const rows: Row[] = [];
  for (const name of folders) {
    const data = await dataOf(join(FOLDER, name));
    for (const options of devices) rows.push(await modelRow(name, data, options));
  }
  return [...rows, ...ggufRows(), ...(await templateRows())];
}

/** Cases in which onnxruntime, whose results the folders hold, is not as the specification says: a line of the documentation. */
const DIFFERS: Readonly<Record<string, RegExp>> = {
  'LSTM-clip': /`clip` bounds what goes into each activation/,
  'LSTM-len0': /a row of length 0 keeps its initial state/,
};

/** One session without bound sizes takes all data sets. */
async function modelRow(name: string, data: readonly Data[], options: LoadOptions): Promise<Row> {
  const bytes = new Uint8Array(readFileSync(join(FOLDER, name, 'model.onnx')));
  const differences: string[] = [];
  const signal = AbortSignal.timeout(MAX_SECONDS * 1000);
  try {
    await using session = await Session.load(bytes, { ...options, worker: false, signal });
    for (const { name: set, inputs, wanted } of data) {
      const outputs = await session.run<CaseValueOutput>(inputs, { signal });
      for (const [output, numbers] of Object.entries(wanted)) {
        const found = outputs[output];
        const got = found instanceof Tensor ? [...numbersOf(found)] : flat(fromOutput(found));
        if (!areClose(got, numbers))
          differences.push(`${set} ${output}: ${got.slice(0, 4).join(', ')}`);
      }
    }
  } catch (error) {
    differences.push(reasonOf(error).slice(0, 160));
  }
  const line = DIFFERS[name];
  if (line !== undefined) {
    const ok = line.test(readFileSync('docs/onnx.md', 'utf8'));
    const got = differences.length > 0 ? 'another result' : 'as onnxruntime';
    return { title: `${name}, ${options.device}`, wanted: 'a line in docs/onnx.md', got, ok };
  }
  const got = differences.join('; ') || 'as wanted';
  const title = `${name}, ${options.device}`;
  return { title, wanted: `${data.length} results`, got, ok: differences.length === 0 };
}

type CaseValueOutput = Parameters<typeof fromOutput>[0] & {};

async function dataOf(folder: string): Promise<Data[]> {
  const read = (name: string): Record<string, Stored> =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, Stored>;
  if (existsSync(join(folder, 'inputs.json'))) {
    const inputs = Object.entries(read('inputs.json')).map(([name, value]) => {
      const { dtype = 'float32', dims, data } = value;
      const array = new (dtypeInfo(dtype).array)(data.length);
      for (const [i, value] of data.entries()) array[i] = Number(value);
      return [name, new Tensor(dtype, array, dims)] as const;
    });
    const wanted = Object.entries(read('expected.json')).map(
      ([name, { data }]) => [name, data.map(Number)] as const,
    );
    return [{ name: '', inputs: Object.fromEntries(inputs), wanted: Object.fromEntries(wanted) }];
  }
  const model = summarizeModel(new Uint8Array(readFileSync(join(folder, 'model.onnx'))));
  const [input] = model.inputs;
  if (!readdirSync(folder).some((name) => name.includes('data_set_'))) {
    // What the folder holds no data for is said in words.
    const rows = [0, 1].map((row) =>
      Tensor.from(Array.from({ length: 12 }, (_, i) => 12 * row + i)),
    );
    const parts = rows.map(({ data }) => new Tensor('float32', data, [3, 4]));
    const [output] = model.outputs;
    const isSequence = folder.includes('concat-from-sequence');
    const x = Tensor.from(Array.from({ length: 64 }, (_, i) => ((i * 37) % 64) - 9));
    const nil: InputValue = { constructor: 'Nil', fields: [] };
    const list = parts.reduceRight<InputValue>(
      (rest, part) => ({ constructor: 'Cons', fields: [part, rest] }),
      nil,
    );
    const whole = Array.from({ length: 24 }, (_, i) => i);
    const extreme = folder.endsWith('max') ? 54 : -9;
    const shape = (input?.dims ?? []).map(Number);
    return [
      {
        name: '',
        inputs: { [input?.name ?? '']: isSequence ? list : new Tensor('float32', x.data, shape) },
        wanted: { [output?.name ?? '']: isSequence ? whole : [extreme] },
      },
    ];
  }
  const [found] = findCases(folder);
  if (found === undefined) return [];
  const sets = found.dataSets.map(async ({ name, inputs, outputs }) => {
    const given = await readValues(inputs, model.inputs, caseReader(found));
    const results = await readValues(outputs, model.outputs, caseReader(found));
    return {
      name: name.replace('test_data_', ''),
      inputs: Object.fromEntries(
        model.inputs.flatMap(({ name: of }, i) => {
          const value = given[i];
          return value === undefined ? [] : [[of, asInput(value)] as const];
        }),
      ),
      wanted: Object.fromEntries(
        results.map((value, i) => [model.outputs[i]?.name ?? '', flat(value)] as const),
      ),
    };
  });
  return Promise.all(sets);
}

interface Stored {
  readonly dtype?: DType;
  readonly dims: readonly number[];
  readonly data: readonly (number | string)[];
}

/** All elements, one after another. */
function flat(value: CaseValue | undefined): number[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((part: CaseValue) => flat(part));
  if ('element' in value) return flat(value.element);
  const { dtype, data, shape } = value as HostTensor;
  return [...numbersOf(new Tensor(dtype, data, shape))];
}

function areClose(got: readonly number[], wanted: readonly number[]): boolean {
  const isClose = (x: number, i: number): boolean =>
    Object.is(got[i], x) || Math.abs((got[i] ?? NaN) - x) <= 1e-5 + 2e-3 * Math.abs(x);
  return got.length === wanted.length && wanted.every(isClose);
}

/** What the metadata of language models says: honoured, or refused by its name. */
function ggufRows(): Row[] {
  const wanted: Readonly<Record<string, string>> = {
    'llama-factor-no-type': 'scaled positions',
    'llama-longrope': 'scaled positions',
    'llama-sliding-key': 'no window',
    'qwen2-sliding-key': 'no window',
  };
  return Object.entries(wanted).map(([name, words]) => {
    const bytes = new Uint8Array(readFileSync(join(FOLDER, `${name}.gguf`)));
    let got: string;
    try {
      const { rotary, windows } = openGguf(readGguf(bytes) as GgufHead).config;
      const isScaled = rotary.scale !== 1 || rotary.factors !== undefined;
      got = `${isScaled ? 'scaled' : 'plain'} positions, ${windows.every((w) => w === undefined) ? 'no window' : 'a window'}`;
    } catch (error) {
      got = reasonOf(error);
    }
    return { title: name, wanted: words, got, ok: got.includes(words) || /rope_factors/.test(got) };
  });
}

/** Templates and tokenizers of hostile files, each in a process that is ended after a minute. */
async function templateRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of readdirSync(join(FOLDER, 'hostile'))) {
    const file = join(FOLDER, 'hostile', name);
    const args = ['scripts/run-ts.mjs', 'tools/faults/sections/hostile-text.ts', file];
    const got = await promisify(execFile)(process.execPath, args, { timeout: MAX_SECONDS * 1000 })
      .then(({ stdout }) => stdout.trim())
      .catch(() => `no end within ${MAX_SECONDS} s`);
    const isRefused = /^(\w+Error|answered) after (\d+\.\d)/.exec(got);
    const ok = isRefused !== null && Number(isRefused[2]) <= 10;
    rows.push({ title: name, wanted: 'a typed error, or an answer, in 10 s', got, ok });
  }
  return rows;
}
