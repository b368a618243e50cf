import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Executable } from '../src/bytecode/file/executable-file.ts';
import { compile } from '../src/compiler/compile.ts';
import {
  call,
  callFunction,
  func,
  gradient,
  moduleOf,
  variable,
} from '../src/compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module } from '../src/compiler/ir/expr.ts';
import { median } from '../src/core/median.ts';
import { compileOnnx } from '../src/frontend/onnx/compile-onnx.ts';
import { markdown } from './table.ts';

/** Models of our own, and models of others where they lie beside this repository. */
const FOLDERS = ['../models/', '../../shared/models/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const DEFAULT_MODELS = ['detector', 'digits', 'transformer'];
const DEFAULT_MODELS_OF_OTHERS =
  'gpt2-past-tiny light-resnet50 bert-toy squeezenet-coreml ultraface-rfb-320'.split(' ');

const CHAIN_LENGTHS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];
const GRADIENT_LENGTHS = [1_000, 2_000, 4_000, 8_000];
const REPEATS = 5;

/**
 * Times the compiler: ONNX models from bytes to an executable, chains of elementwise calls, and chains with their
 * gradients. `peak bytes` are the storages of activations that the plan holds at once, `of largest` their
 * share of the largest set of values alive at once; `-` where all sizes are symbolic. Arguments:
 * names of models. Resolves to the exit status: 1 when a second compilation gives
 * other bytes than the first.
 */
export async function main(args: readonly string[]): Promise<number> {
  const others = DEFAULT_MODELS_OF_OTHERS.filter((name) => fileOf(name) !== undefined);
  const names = args.length > 0 ? args : [...DEFAULT_MODELS, ...others];
  const missing = names.filter((name) => fileOf(name) === undefined);
  if (missing.length > 0) {
    console.error(`There is no model ${missing.join(', ')} in ${FOLDERS.join(' or ')}.`);
    return 1;
  }
  let status = 0;
  const models = names.map((name) => {
    const bytes = readFileSync(fileOf(name) ?? '');
    let [peak, live, isSized] = [0, 0, true];
    const { times, executable, isStable } = measure(() =>
      compileOnnx(bytes, {
        onMemoryPlan({ functions }) {
          peak = Math.max(...functions.map(({ plannedPeakBytes }) => plannedPeakBytes));
          live = Math.max(...functions.map(({ largestLiveSetBytes }) => largestLiveSetBytes));
          isSized = functions.every(({ unsizedTensors }) => unsizedTensors === 0);
        },
      }),
    );
    if (!isStable) status = 1;
    const memory = isSized ? [peak, (peak / live).toFixed(2)] : ['-', '-'];
    const size = executable.toBytes().byteLength;
    return [name, ...times, kernelCalls(executable), size, ...memory, isStable ? 'yes' : 'NO'];
  });
  const times = ['first ms', 'median ms', 'CPU ms'];
  print(['model', ...times, 'kernels', 'bytes', 'peak bytes', 'of largest', 'same bytes'], models);
  const chains = CHAIN_LENGTHS.map((length) => {
    const module = moduleOf({ main: elementwiseChain(length) });
    const { times, best } = measure(() => compile(module));
    return [length, ...times, perNode(best, length)];
  });
  print(['chain', ...times, 'us/node'], chains);
  for (const [title, make] of Object.entries(GRADIENTS)) timeGradients(title, make);
  return status;
}

const perNode = (ms: number, length: number): string => ((1000 * ms) / length).toFixed(1);

function print(header: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const texts = rows.map((row) => row.map(String));
  console.log(`${markdown(header, texts)}\n`);
}

/** Chains with their gradients, beside those without. */
function timeGradients(title: string, make: (length: number) => FunctionExpr): void {
  const best: number[] = [];
  const rows = GRADIENT_LENGTHS.map((length) => {
    const sum = make(length);
    const own = sum.params.map((param) => ({ ...param }));
    const withGradient = func(own, callFunction(gradient(sum), own));
    const [alone, both] = [sum, withGradient].map((main) => cpuOf(moduleOf({ main })));
    best.push(both ?? 0);
    const ratio = (both ?? 0) / (alone ?? 1);
    const cells = [alone?.toFixed(0) ?? '', both?.toFixed(0) ?? '', ratio.toFixed(1)];
    return [length, ...cells, perNode(both ?? 0, length)];
  });
  print([title, 'forward CPU', 'both CPU', 'ratio', 'us/node'], rows);
  const growth = (best.at(-1) ?? NaN) / (best[0] ?? NaN);
  const [first, last] = [GRADIENT_LENGTHS[0], GRADIENT_LENGTHS.at(-1)];
  console.log(`${last} calls take ${growth.toFixed(1)} times what ${first} take\n`);
}

const cpuOf = (module: Module): number => measure(() => compile(module)).best;

function fileOf(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}${name}/model.onnx`).find((file) => existsSync(file));
}

interface Measured {
  /** Wall milliseconds of the first time, which includes what the engine compiles, their median, and that of processor time. */
  readonly times: readonly string[];
  /** The least milliseconds of the processor. */
  readonly best: number;
  readonly executable: Executable;
  readonly isStable: boolean;
}

function measure(work: () => Executable): Measured {
  const [wall, cpu]: [number[], number[]] = [[], []];
  const made: Executable[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const before = process.cpuUsage();
    const start = performance.now();
    made.push(work());
    wall.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
  }
  const [executable, ...others] = made;
  if (executable === undefined) throw new Error('internal: nothing was measured');
  const bytes = executable.toBytes();
  const times = [wall[0] ?? 0, median(wall), median(cpu)].map((ms) => ms.toFixed(0));
  const isStable = others.every((other) => Buffer.compare(other.toBytes(), bytes) === 0);
  return { times, best: Math.min(...cpu), executable, isStable };
}

/** Calls of kernels in the listing of all functions. */
function kernelCalls(executable: Executable): number {
  const names = new Set(executable.primitives.map(({ name }) => name));
  const calls = executable.toText().matchAll(/ call ([^\s(]+)\(/g);
  return [...calls].filter(([, name = '']) => names.has(name)).length;
}

const OPERATORS = ['relu', 'exp', 'neg', 'tanh', 'sigmoid', 'sqrt'];

/**
 * Of x: float32 (n, 64): so many elementwise calls one after another, each eighth a sum with
 * an earlier value, so that not all of it can become one kernel.
 */
function elementwiseChain(length: number): FunctionExpr {
  const x = variable('x', 'float32', ['n', 64]);
  const values: Expr[] = [x];
  for (let i = 1; i <= length; i++) {
    const last = values[i - 1] ?? x;
    const earlier = values[Math.max(0, i - 20)] ?? x;
    const operator = OPERATORS[i % OPERATORS.length] ?? 'relu';
    values.push(i % 8 === 0 ? call('add', [last, earlier]) : call(operator, [last]));
  }
  return func([x], values.at(-1) ?? x);
}

/** Functions to a number, whose gradients are compiled. */
const GRADIENTS: Readonly<Record<string, (length: number) => FunctionExpr>> = {
  /** Most of which fuses as long as nobody else reads what is in between. */
  'gradient, elementwise'(length) {
    const { params, body } = elementwiseChain(length);
    return func(params, call('reduce_sum', [body]));
  },
  /** Of a product and an activation, two calls each, over the same weights. */
  'gradient, layers'(length) {
    const [x, w] = [variable('x', 'float32', ['n', 64]), variable('w', 'float32', [64, 64])];
    let value: Expr = x;
    for (let i = 0; i < length; i += 2) value = call('tanh', [call('matmul', [value, w])]);
    return func([x, w], call('reduce_sum', [value]));
  },
};
