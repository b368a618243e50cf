import type { Device } from '../../../src/device/device.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import {
  compile,
  type Executable,
  OPTIONAL_PASSES,
  type OptionalPass,
} from '../../../src/compiler/compile.ts';
import { dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { sameShape } from '../../../src/core/tensor/shape.ts';
import { AdtValue, TensorValue, type Value } from '../../../src/runtime/values/value.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { type Graph, graphModule } from './graph.ts';
import { evaluateGraph, type NodeValues, spreadOf, toleranceOf } from './perturbed-values.ts';
import { resizedGraph } from './resize-graph.ts';
import { elementsOf } from './tensor-values.ts';

/** A way to compile: passes that are left out. */
export interface Variant {
  readonly title: string;
  readonly without: readonly OptionalPass[];
}

/** All passes, none, and each one left out. */
export const VARIANTS: readonly Variant[] = [
  { title: 'all passes', without: [] },
  { title: 'no optional pass', without: OPTIONAL_PASSES },
  ...OPTIONAL_PASSES.map((pass) => ({ title: `all but ${pass}`, without: [pass] })),
];

/** All passes, none, and one left out by turns: each has its turn among as many seeds as there are. */
export function variantsFor(seed: number): readonly Variant[] {
  const turn = VARIANTS[2 + (seed % (VARIANTS.length - 2))];
  return [...VARIANTS.slice(0, 2), ...(turn === undefined ? [] : [turn])];
}

/** The wrong result of a graph on a device, compiled in some way. */
export interface Difference {
  readonly variant: Variant;
  readonly device: string;
  readonly text: string;
}

export interface RunOptions {
  readonly devices: readonly Device[];
  readonly variants?: readonly Variant[];
}

/** Samples of errors for the usual comparison, and where that finds a difference. */
const SAMPLES = { first: 4, second: 64 };
/** How much farther a result may lie than the farthest sample. */
const SAFETY = 4;

/**
 * Compiles a graph in every way and compares what each device makes of it with the references. Equal
 * executables run once. Without bound by time: a graph has few elements.
 */
export async function differencesOf(
  graph: Graph,
  { devices, variants = VARIANTS }: RunOptions,
): Promise<Difference[]> {
  const { module } = graphModule(graph);
  const runs = [graph, resizedGraph(graph)].flatMap((sized) => (sized ? [runOf(sized)] : []));
  const seen = new Set<string>();
  const differences: Difference[] = [];
  for (const variant of variants) {
    let executable: Executable;
    try {
      executable = compile(module, { without: variant.without });
    } catch (thrown) {
      differences.push({ variant, device: 'compiler', text: describe(thrown) });
      continue;
    }
    const key = Buffer.from(executable.toBytes()).toString('base64');
    if (seen.has(key)) continue;
    seen.add(key);
    for (const device of devices) {
      const text = await runOn(device, executable, runs);
      if (text !== undefined) differences.push({ variant, device: device.kind, text });
    }
  }
  return differences;
}

interface Run {
  readonly args: readonly HostTensor[];
  readonly expected: readonly Expected[];
  readonly graph: Graph;
}

function runOf(graph: Graph): Run {
  const { args } = graphModule(graph);
  return { args, graph, expected: expectedOf(graph, SAMPLES.first) };
}

async function runOn(
  device: Device,
  executable: Executable,
  runs: readonly Run[],
): Promise<string | undefined> {
  let results: HostTensor[][];
  try {
    results = await runExecutable(device, executable, runs);
  } catch (thrown) {
    return describe(thrown);
  }
  for (const [i, { graph, expected }] of runs.entries()) {
    const found = results[i] ?? [];
    if (firstDifference(found, expected) === undefined) continue;
    // Chance may have put the samples close together, or on one side of a step.
    const text = firstDifference(found, expectedOf(graph, SAMPLES.second));
    if (text !== undefined) return i === 0 ? text : `${text}; with ${sizesText(graph)}`;
  }
  return undefined;
}

function sizesText({ symbols }: Graph): string {
  return [...symbols].map(([name, size]) => `${name} = ${size}`).join(', ');
}

/** The results of one machine that is called with the arguments of each run in turn. */
async function runExecutable(
  device: Device,
  executable: Executable,
  runs: readonly Run[],
): Promise<HostTensor[][]> {
  // As in a session: WebAssembly is a host too.
  const host = device.kind === 'wasm' ? device : createHostDevice();
  const vm = await VirtualMachine.create(executable, { devices: [device, host] });
  const results: HostTensor[][] = [];
  try {
    for (const { args } of runs) {
      const result = await vm.get('main')(...args);
      results.push(await vm.read(tensorsOf(result)));
      vm.release(result);
    }
    return results;
  } finally {
    vm.dispose();
  }
}

export function tensorsOf(value: Value): TensorValue[] {
  if (value instanceof TensorValue) return [value];
  return value instanceof AdtValue ? value.fields.flatMap(tensorsOf) : [];
}

interface Expected {
  readonly value: HostTensor;
  /** How far each element may be off. */
  readonly bounds: Float64Array;
}

function expectedOf(graph: Graph, count: number): Expected[] {
  const values = evaluateGraph(graph, { random: seededRandom(count), count });
  return graph.outputs.map((output) => {
    const node = graph.nodes[output];
    const found = values[output];
    if (node === undefined || found === undefined) throw new Error(`no node ${output}`);
    return { value: found.value, bounds: boundsOf(found, node.kind === 'call' ? node.op : '') };
  });
}

function boundsOf(values: NodeValues, op: string): Float64Array {
  const { dtype } = values.value;
  const spread = spreadOf(values);
  if (op === '' || dtypeInfo(dtype).category !== 'float') return spread.map((s) => SAFETY * s);
  const { rtol, atol } = toleranceOf(op, dtype);
  const elements = elementsOf(values.value);
  return spread.map((s, i) =>
    s === 0 ? 0 : SAFETY * s + rtol * Math.abs(Number(elements[i])) + atol,
  );
}

function firstDifference(
  results: readonly HostTensor[],
  expected: readonly Expected[],
): string | undefined {
  for (const [i, { value, bounds }] of expected.entries()) {
    const result = results[i];
    if (result === undefined) return `result ${i} is missing`;
    if (result.dtype !== value.dtype || !sameShape(result.shape, value.shape)) {
      return `result ${i} is ${typeText(result)}, expected ${typeText(value)}`;
    }
    const [actual, wanted] = [elementsOf(result), elementsOf(value)];
    for (let k = 0; k < wanted.length; k++) {
      const [x, y] = [actual[k], wanted[k]];
      if (x === y) continue;
      const distance = Math.abs(Number(x) - Number(y));
      const bound = bounds[k] ?? 0;
      if (bound > 0 && distance <= bound) continue;
      return `result ${i}, element ${k}: got ${x}, expected ${y} (within ${bound.toExponential(1)})`;
    }
  }
  return undefined;
}

function typeText({ dtype, shape }: HostTensor): string {
  return `${dtype} (${shape.join(', ')})`;
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
