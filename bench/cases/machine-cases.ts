import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { compile } from '../../src/compiler/compile.ts';
import { parseModule } from '../../src/compiler/ir/text/parse.ts';
import { compileOnnx } from '../../src/frontend/onnx/compile-onnx.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { matmulChain } from './operator-cases.ts';
import { randomTensor } from './plan-operators.ts';

/** Costs of the machine itself, which no other runtime has a counterpart of. */
const MACHINE_CASES = [
  'launch-overhead',
  'allocator-churn',
  'interpretation',
  'load-time',
  'readback',
  'round-trip',
  'state-step',
  'state-step-processor',
  'state-append',
  'state-append-processor',
  'state-append-heads',
  'state-append-heads-processor',
] as const;
export type MachineCase = (typeof MACHINE_CASES)[number];

/** Launches of the shorter and the longer program of `launch-overhead`. */
const CHAIN_LENGTHS = [100, 2000];
/** Megabytes of weights of the smaller and the larger program of `load-time`. */
const LOAD_MEGABYTES = [1, 64];

/** Floats of the smaller and the larger tensor of `readback`. */
const READ_COUNTS = [1, 1 << 22];

/** Kilobytes of the smaller and the larger state of `state-step` and `state-append`. */
const STATE_KILOBYTES = [64, 65_536];

const COUNT = `
def @count(%n: int, %total: int) -> int {
  if (int_lt(%n, #1)) { %total } else { @count(int_sub(%n, #1), int_add(%total, %n)) }
}

def @main(%n: int) { @count(%n, #0) }
`;

const FILES: Readonly<Record<MachineCase, () => Map<string, Uint8Array>>> = {
  'launch-overhead': () => files(CHAIN_LENGTHS, productsProgram),
  'load-time': () =>
    files(LOAD_MEGABYTES, (megabytes) =>
      onnx({
        inputs: [{ name: 'x', shape: [1, 1024] }],
        initializers: { w: randomTensor([1024, 256 * megabytes], 1) },
        nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
      }),
    ),
  readback: () => files(READ_COUNTS, copyProgram),
  'allocator-churn': () => files([0], growingProgram),
  'round-trip': () => files([1], productsProgram),
  'state-step': () => files(STATE_KILOBYTES, stateProgram),
  'state-step-processor': () => files(STATE_KILOBYTES, stateProgram),
  'state-append': () => files(STATE_KILOBYTES, appendProgram),
  'state-append-processor': () => files(STATE_KILOBYTES, appendProgram),
  'state-append-heads': () => files(STATE_KILOBYTES, appendToHeadsProgram),
  'state-append-heads-processor': () => files(STATE_KILOBYTES, appendToHeadsProgram),
  interpretation: () => files([0], () => compile(parseModule(COUNT)).toBytes()),
};

/** The executables of a case by their addresses, smaller ones first. */
export function machineFiles(name: MachineCase): Map<string, Uint8Array> {
  return FILES[name]();
}

const programUrl = (size: number): string => `/cases/machine/${size}.weft`;

function files(sizes: readonly number[], make: (size: number) => Uint8Array) {
  return new Map(sizes.map((size) => [programUrl(size), make(size)]));
}

function onnx(graph: Omit<Parameters<typeof writeOnnxModel>[0], 'outputs'>): Uint8Array {
  return compileOnnx(writeOnnxModel({ ...graph, outputs: ['y'] })).toBytes();
}

function productsProgram(length: number): Uint8Array {
  const { weights = {}, nodes } = matmulChain(length);
  return onnx({ inputs: [{ name: 'x', shape: [8, 8] }], initializers: weights, nodes });
}

/** Gives so many numbers, larger ones of themselves and 0. */
function copyProgram(count: number): Uint8Array {
  const text = `def @main(%x: Tensor[(${count},), float32], results=["y"]) { relu(%x) }`;
  return compile(parseModule(text)).toBytes();
}

/** Changes one row, a kilobyte, of a state. */
function stateProgram(kilobytes: number): Uint8Array {
  const text = `def @main(
    %state: Tensor[(${kilobytes}, 256), float32],
    %at: Tensor[(1, 1), int32],
    %row: Tensor[(1, 256), float32],
    results=["state", "y"]
  ) {
    (scatter_nd(%state, %at, %row), relu(%row))
  }`;
  return compile(parseModule(text)).toBytes();
}

/** Puts one row, a kilobyte, behind those of a state. */
function appendProgram(): Uint8Array {
  const text = `def @main(
    %state: Tensor[(n, 256), float32],
    %row: Tensor[(1, 256), float32],
    results=["state", "y"]
  ) {
    (concat(%state, %row, axis=0), relu(%row))
  }`;
  return compile(parseModule(text)).toBytes();
}

/** Puts a row, a kilobyte, behind those of each of eight heads: the cache of an attention layer. */
function appendToHeadsProgram(): Uint8Array {
  const text = `def @main(
    %state: Tensor[(1, 8, n, 32), float32],
    %row: Tensor[(1, 8, 1, 32), float32],
    results=["state", "y"]
  ) {
    (concat(%state, %row, axis=2), relu(%row))
  }`;
  return compile(parseModule(text)).toBytes();
}

/** Eight softmaxes and products by 64x64 over rows of which there are `n`. */
function growingProgram(): Uint8Array {
  const nodes = Array.from({ length: 8 }, (_, i) => [
    { op: 'Softmax', inputs: [i === 0 ? 'x' : `p${i - 1}`], outputs: [`s${i}`] },
    { op: 'MatMul', inputs: [`s${i}`, 'w'], outputs: [i === 7 ? 'y' : `p${i}`] },
  ]).flat();
  return onnx({
    inputs: [{ name: 'x', shape: ['n', 64] }],
    initializers: { w: HostTensor.splat('float32', [64, 64], 0.02) },
    nodes,
  });
}
