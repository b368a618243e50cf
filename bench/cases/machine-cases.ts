import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { compile } from '../../src/compiler/compile.ts';
import { parseModule } from '../../src/compiler/ir/text/parse.ts';
import { compileOnnx } from '../../src/frontend/onnx/compile-onnx.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import type { BenchDevice } from './bench-case.ts';
import { randomTensor } from './build-case.ts';
import { matmulChain } from './operator-cases.ts';

/** A cost of the machine itself, which no other runtime has a counterpart of. */
interface MachineRow {
  readonly devices: readonly BenchDevice[];
  /** Of the programs, the smaller first: launches, megabytes, floats, kilobytes of a state. */
  readonly sizes: readonly number[];
  readonly program: (size: number) => Uint8Array;
}

const WEBGPU = ['webgpu'] as const;
const BOTH = ['webgpu', 'wasm'] as const;
const STATE_KILOBYTES = [64, 65_536];

/** The costs by name; `page/machine-steps.ts` has what measures each. */
const MACHINE_CASES = {
  'launch-overhead': { devices: WEBGPU, sizes: [100, 2000], program: productsProgram },
  'allocator-churn': { devices: WEBGPU, sizes: [0], program: growingProgram },
  interpretation: { devices: WEBGPU, sizes: [0], program: countProgram },
  'load-time': { devices: WEBGPU, sizes: [1, 64], program: weightsProgram },
  readback: { devices: WEBGPU, sizes: [1, 1 << 22], program: copyProgram },
  'round-trip': { devices: ['wasm'], sizes: [1], program: productsProgram },
  'state-step': { devices: BOTH, sizes: STATE_KILOBYTES, program: stateProgram },
  'state-append': {
    devices: BOTH,
    sizes: STATE_KILOBYTES,
    program: () => appendProgram({ state: '(n, 256)', row: '(1, 256)', axis: 0 }),
  },
  /** As the cache of an attention layer grows. */
  'state-append-heads': {
    devices: BOTH,
    sizes: STATE_KILOBYTES,
    program: () => appendProgram({ state: '(1, 8, n, 32)', row: '(1, 8, 1, 32)', axis: 2 }),
  },
} satisfies Readonly<Record<string, MachineRow>>;

export type MachineCase = keyof typeof MACHINE_CASES;

/** Names of the costs that are measured on a device. */
export const machineCases = (device: BenchDevice): MachineCase[] =>
  Object.entries<MachineRow>(MACHINE_CASES).flatMap(([name, { devices }]) =>
    devices.includes(device) ? [name as MachineCase] : [],
  );

/** A program's address with its size. */
export interface SizedProgram {
  readonly size: number;
  readonly url: string;
}

/** The programs of a case, and the executables by their addresses. */
export function machinePrograms(name: MachineCase) {
  const { sizes, program }: MachineRow = MACHINE_CASES[name];
  const programs = sizes.map((size) => ({ size, url: `/cases/machine/${name}-${size}.weft` }));
  return { programs, files: new Map(programs.map(({ size, url }) => [url, program(size)])) };
}

const fromText = (text: string): Uint8Array => compile(parseModule(text)).toBytes();

function fromOnnx(graph: Omit<Parameters<typeof writeOnnxModel>[0], 'outputs'>): Uint8Array {
  return compileOnnx(writeOnnxModel({ ...graph, outputs: ['y'] })).toBytes();
}

function productsProgram(length: number): Uint8Array {
  const { weights = {}, nodes } = matmulChain(length);
  return fromOnnx({ inputs: [{ name: 'x', shape: [8, 8] }], initializers: weights, nodes });
}

function weightsProgram(megabytes: number): Uint8Array {
  return fromOnnx({
    inputs: [{ name: 'x', shape: [1, 1024] }],
    initializers: { w: randomTensor([1024, 256 * megabytes], 1) },
    nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
  });
}

function countProgram(): Uint8Array {
  return fromText(`
    def @count(%n: int, %total: int) -> int {
      if (int_lt(%n, #1)) { %total } else { @count(int_sub(%n, #1), int_add(%total, %n)) }
    }
    def @main(%n: int) { @count(%n, #0) }`);
}

/** Gives so many numbers, larger ones of themselves and 0. */
function copyProgram(count: number): Uint8Array {
  return fromText(`def @main(%x: Tensor[(${count},), float32], results=["y"]) { relu(%x) }`);
}

/** Changes one row, a kilobyte, of a state. */
function stateProgram(kilobytes: number): Uint8Array {
  return fromText(`def @main(
    %state: Tensor[(${kilobytes}, 256), float32],
    %at: Tensor[(1, 1), int32],
    %row: Tensor[(1, 256), float32],
    results=["state", "y"]
  ) {
    (scatter_nd(%state, %at, %row), relu(%row))
  }`);
}

interface Appended {
  readonly state: string;
  readonly row: string;
  readonly axis: number;
}

/** Puts one row, a kilobyte, behind those of a state. */
function appendProgram({ state, row, axis }: Appended): Uint8Array {
  return fromText(`def @main(
    %state: Tensor[${state}, float32],
    %row: Tensor[${row}, float32],
    results=["state", "y"]
  ) {
    (concat(%state, %row, axis=${axis}), relu(%row))
  }`);
}

/** Eight softmaxes and products by 64x64 over rows of which there are `n`. */
function growingProgram(): Uint8Array {
  const nodes = Array.from({ length: 8 }, (_, i) => [
    { op: 'Softmax', inputs: [i === 0 ? 'x' : `p${i - 1}`], outputs: [`s${i}`] },
    { op: 'MatMul', inputs: [`s${i}`, 'w'], outputs: [i === 7 ? 'y' : `p${i}`] },
  ]).flat();
  return fromOnnx({
    inputs: [{ name: 'x', shape: ['n', 64] }],
    initializers: { w: HostTensor.splat('float32', [64, 64], 0.02) },
    nodes,
  });
}
