import { HostTensor } from '../core/tensor/host-tensor.ts';
import {
  type OnnxFunctionSpec,
  type OnnxGraphSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from './onnx-writer.ts';

/** An ONNX model of a few kilobytes that asks the compiler for far more than it shows. */
interface HostileModel {
  readonly title: string;
  readonly bytes: () => Uint8Array;
}

const DOMAIN = 'hostile';
const LEVELS = 30;

/** Models that a compiler without limits does not come to an end with. */
export const HOSTILE_MODELS: readonly HostileModel[] = [
  { title: 'functions that double 30 times', bytes: () => doublingFunctions(addTwice) },
  { title: 'functions that double inside an If', bytes: () => doublingFunctions(callInBranches) },
  { title: 'functions with a hundred attributes', bytes: () => doublingFunctions(withAttributes) },
  { title: 'functions 5,000 deep', bytes: functionChain },
  { title: 'a sparse tensor of 1.7 GB', bytes: () => sparseTensor([1700, 1000, 250]) },
  { title: 'sparse tensors of 60 MB each', bytes: () => manySparseTensors(200) },
  { title: 'a constant that Concat doubles', bytes: () => doublingConstant('Concat') },
  { title: 'an integer constant that Concat doubles', bytes: doublingIntegers },
  { title: 'a constant that Tile doubles', bytes: () => doublingConstant('Tile') },
  { title: 'a constant that Expand makes huge', bytes: expandedConstants },
  { title: 'a constant that Pad makes huge', bytes: paddedConstants },
  { title: 'large constants that are multiplied', bytes: multipliedConstants },
  { title: 'a window of 2^31 samples', bytes: hugeWindow },
  { title: 'a million indices of one element', bytes: repeatedGather },
  { title: 'If in If, 2^12 branches that differ in rank', bytes: branchesOfRanks },
  { title: 'sizes whose formulas double', bytes: doublingSizes },
  { title: 'sizes that are products of sums', bytes: productsOfSums },
  { title: '300,000 nodes', bytes: manyNodes },
];

function model(graph: OnnxGraphSpec, functions: readonly OnnxFunctionSpec[] = []): Uint8Array {
  return writeOnnxModel({ ...graph, functions, opsets: { [DOMAIN]: 1 } });
}

type Level = (callee: string) => readonly OnnxNodeSpec[];

function doublingFunctions(level: Level): Uint8Array {
  const functions = Array.from({ length: LEVELS }, (_, i): OnnxFunctionSpec => {
    const nodes =
      i === 0 ? [{ op: 'Add', inputs: ['a', 'a'], outputs: ['b'] }] : level(`f${i - 1}`);
    return { domain: DOMAIN, name: `f${i}`, inputs: ['a'], outputs: ['b'], nodes };
  });
  const call = { op: `f${LEVELS - 1}`, domain: DOMAIN, inputs: ['x'], outputs: ['y'] };
  return model({ nodes: [call], inputs: [{ name: 'x', shape: [1] }], outputs: ['y'] }, functions);
}

function addTwice(callee: string): OnnxNodeSpec[] {
  return [
    { op: callee, domain: DOMAIN, inputs: ['a'], outputs: ['c'] },
    { op: callee, domain: DOMAIN, inputs: ['c'], outputs: ['b'] },
  ];
}

function callInBranches(callee: string): OnnxNodeSpec[] {
  const branch = (): { graph: OnnxGraphSpec } => ({
    graph: {
      nodes: [{ op: callee, domain: DOMAIN, inputs: ['a'], outputs: ['inner'] }],
      outputs: ['inner'],
    },
  });
  return [
    { op: 'ReduceSum', inputs: ['a'], outputs: ['sum'], attributes: { keepdims: 0 } },
    { op: 'Cast', inputs: ['sum'], outputs: ['c'], attributes: { to: 9 } },
    {
      op: 'If',
      inputs: ['c'],
      outputs: ['b'],
      attributes: { then_branch: branch(), else_branch: branch() },
    },
  ];
}

function withAttributes(callee: string): OnnxNodeSpec[] {
  const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i]));
  return addTwice(callee).map((node) => ({ ...node, attributes }));
}

function functionChain(): Uint8Array {
  const functions = Array.from({ length: 5000 }, (_, i): OnnxFunctionSpec => {
    const op = i === 0 ? { op: 'Neg' } : { op: `f${i - 1}`, domain: DOMAIN };
    const nodes = [{ ...op, inputs: ['a'], outputs: ['b'] }];
    return { domain: DOMAIN, name: `f${i}`, inputs: ['a'], outputs: ['b'], nodes };
  });
  const call = { op: 'f4999', domain: DOMAIN, inputs: ['x'], outputs: ['y'] };
  return model({ nodes: [call], inputs: [{ name: 'x', shape: [1] }], outputs: ['y'] }, functions);
}

function sparse(shape: readonly number[]) {
  const values = HostTensor.from('float32', [1], [1]);
  return { values, indices: HostTensor.from('int64', [1], [0]), shape };
}

function sparseTensor(shape: readonly number[]): Uint8Array {
  const nodes = [{ op: 'Relu', inputs: ['s'], outputs: ['y'] }];
  return model({ nodes, outputs: ['y'], sparseInitializers: { s: sparse(shape) } });
}

function manySparseTensors(count: number): Uint8Array {
  const names = Array.from({ length: count }, (_, i) => `s${i}`);
  const sparseInitializers = Object.fromEntries(names.map((name) => [name, sparse([15_000_000])]));
  const nodes = [{ op: 'Sum', inputs: ['x', ...names], outputs: ['y'] }];
  const inputs = [{ name: 'x', shape: [1] }];
  return model({ nodes, inputs, outputs: ['y'], sparseInitializers });
}

/** Elements that are no splat, so that each doubling takes memory. */
function seedConstants(): Readonly<Record<string, HostTensor>> {
  return {
    v0: HostTensor.from('float32', [4], [1, 2, 3, 4]),
    two: HostTensor.from('int64', [1], [2]),
  };
}

/** Many chains: one alone ends where tensors are too large to be folded. */
function doublingConstant(op: 'Concat' | 'Tile'): Uint8Array {
  const nodes: OnnxNodeSpec[] = [];
  const ends: string[] = [];
  for (let chain = 0; chain < 32; chain++) {
    let last = 'v0';
    for (let i = 0; i < 40; i++) {
      const next = `v${chain}_${i}`;
      nodes.push(
        op === 'Concat'
          ? { op, inputs: [last, last], outputs: [next], attributes: { axis: 0 } }
          : { op, inputs: [last, 'two'], outputs: [next] },
      );
      // Chains differ, so that they are not computed once for all.
      if (i === 0) {
        nodes.push({ op: 'Neg', inputs: [next], outputs: [`${next}n`] });
        nodes.push({
          op: 'Concat',
          inputs: Array.from({ length: chain + 2 }, () => `${next}n`),
          outputs: [`${next}c`],
          attributes: { axis: 0 },
        });
        last = `${next}c`;
      } else last = next;
    }
    nodes.push({ op: 'ReduceMax', inputs: [last], outputs: [`end${chain}`] });
    ends.push(`end${chain}`);
  }
  nodes.push({ op: 'Sum', inputs: ['x', ...ends], outputs: ['y'] });
  const inputs = [{ name: 'x', shape: [1] }];
  return model({ nodes, inputs, outputs: ['y'], initializers: seedConstants() });
}

function doublingIntegers(): Uint8Array {
  const nodes: OnnxNodeSpec[] = [];
  for (let i = 0; i < 60; i++) {
    const inputs = [`v${i}`, `v${i}`];
    nodes.push({ op: 'Concat', inputs, outputs: [`v${i + 1}`], attributes: { axis: 0 } });
  }
  nodes.push({ op: 'Gather', inputs: ['v60', 'x'], outputs: ['y'] });
  const initializers = { v0: HostTensor.from('int64', [4], [1, 2, 3, 4]) };
  const inputs = [{ name: 'x', dtype: 'int64' as const, shape: [1] }];
  return model({ nodes, inputs, outputs: ['y'], initializers });
}

function expandedConstants(): Uint8Array {
  return growingConstants((i) => ({
    node: { op: 'Expand', inputs: ['column', `shape${i}`], outputs: [`big${i}`] },
    initializers: { [`shape${i}`]: HostTensor.from('int64', [2], [4, 2_000_000 + i]) },
  }));
}

function paddedConstants(): Uint8Array {
  return growingConstants((i) => ({
    node: { op: 'Pad', inputs: ['column', `pads${i}`], outputs: [`big${i}`] },
    initializers: { [`pads${i}`]: HostTensor.from('int64', [4], [0, 0, 0, 2_000_000 + i]) },
  }));
}

type Growth = (i: number) => {
  readonly node: OnnxNodeSpec;
  readonly initializers: Readonly<Record<string, HostTensor>>;
};

function growingConstants(grow: Growth): Uint8Array {
  const nodes: OnnxNodeSpec[] = [];
  const initializers: Record<string, HostTensor> = {
    column: HostTensor.from('float32', [4, 1], [1, 2, 3, 4]),
  };
  const ends: string[] = [];
  for (let i = 0; i < 64; i++) {
    const { node, initializers: more } = grow(i);
    Object.assign(initializers, more);
    nodes.push(node, { op: 'ReduceMax', inputs: [`big${i}`], outputs: [`end${i}`] });
    ends.push(`end${i}`);
  }
  nodes.push({ op: 'Sum', inputs: ['x', ...ends], outputs: ['y'] });
  const inputs = [{ name: 'x', shape: [1] }];
  return model({ nodes, inputs, outputs: ['y'], initializers });
}

function multipliedConstants(): Uint8Array {
  const nodes: OnnxNodeSpec[] = [];
  const ends: string[] = [];
  for (let i = 0; i < 400; i++) {
    nodes.push(
      { op: 'Mul', inputs: [i === 0 ? 'a' : `m${i - 1}`, 'a'], outputs: [`p${i}`] },
      { op: 'MatMul', inputs: [`p${i}`, 'a'], outputs: [`m${i}`] },
    );
    ends.push(`m${i}`);
  }
  nodes.push({ op: 'Add', inputs: ['x', ends.at(-1) ?? 'a'], outputs: ['y'] });
  const values = Float32Array.from({ length: 512 * 512 }, (_, i) => (i % 7) / 7);
  const initializers = { a: new HostTensor('float32', [512, 512], values) };
  const inputs = [{ name: 'x', shape: [512, 512] }];
  return model({ nodes, inputs, outputs: ['y'], initializers });
}

function hugeWindow(): Uint8Array {
  const nodes = [
    { op: 'HannWindow', inputs: ['size'], outputs: ['w'] },
    { op: 'Mul', inputs: ['w', 'x'], outputs: ['y'] },
  ];
  const initializers = { size: HostTensor.from('int64', [], [2 ** 31]) };
  return model({ nodes, inputs: [{ name: 'x', shape: [1] }], outputs: ['y'], initializers });
}

function repeatedGather(): Uint8Array {
  const nodes: OnnxNodeSpec[] = [];
  for (let i = 0; i < 24; i++) {
    nodes.push({
      op: 'Gather',
      inputs: [i === 0 ? 'row' : `g${i - 1}`, 'indices'],
      outputs: [`g${i}`],
      attributes: { axis: i % 2 },
    });
  }
  nodes.push({ op: 'Add', inputs: ['g23', 'x'], outputs: ['y'] });
  const initializers = {
    row: HostTensor.from('float32', [1, 2], [1, 2]),
    indices: HostTensor.from('int64', [4], [0, 0, 0, 0]),
  };
  return model({ nodes, inputs: [{ name: 'x', shape: [1] }], outputs: ['y'], initializers });
}

/** Each `If` gives tensors of one rank or another, so that what follows is read for each. */
function branchesOfRanks(): Uint8Array {
  const nodes: OnnxNodeSpec[] = [];
  for (let i = 0; i < 12; i++) {
    const branch = (op: string, attributes = {}) => ({
      graph: {
        nodes: [{ op, inputs: [`x${i}`], outputs: ['inner'], attributes }],
        outputs: ['inner'],
      },
    });
    nodes.push({
      op: 'If',
      inputs: ['c'],
      outputs: [`x${i + 1}`],
      attributes: {
        then_branch: branch('Neg'),
        else_branch: branch('Flatten', { axis: 0 }),
      },
    });
  }
  for (let i = 0; i < 200; i++) {
    nodes.push({ op: 'Neg', inputs: [i === 0 ? 'x12' : `n${i - 1}`], outputs: [`n${i}`] });
  }
  nodes.push({
    op: 'Transpose',
    inputs: ['n199'],
    outputs: ['y'],
    attributes: { perm: [0, 1, 2] },
  });
  const inputs = [
    { name: 'x0', shape: [2, 3] },
    { name: 'c', dtype: 'bool' as const, shape: [] },
  ];
  return model({ nodes, inputs, outputs: ['y'] });
}

/** n -> (n / 3) * (n % 5), 40 times over. */
function doublingSizes(): Uint8Array {
  const nodes: OnnxNodeSpec[] = [{ op: 'Shape', inputs: ['x'], outputs: ['n0'] }];
  for (let i = 0; i < 40; i++) {
    nodes.push(
      { op: 'Div', inputs: [`n${i}`, 'three'], outputs: [`d${i}`] },
      { op: 'Mod', inputs: [`n${i}`, 'five'], outputs: [`m${i}`] },
      { op: 'Max', inputs: [`d${i}`, `m${i}`], outputs: [`p${i}`] },
      { op: 'Mul', inputs: [`p${i}`, `d${i}`], outputs: [`n${i + 1}`] },
    );
  }
  nodes.push({ op: 'ConstantOfShape', inputs: ['n40'], outputs: ['y'] });
  const initializers = {
    three: HostTensor.from('int64', [1], [3]),
    five: HostTensor.from('int64', [1], [5]),
  };
  return model({ nodes, inputs: [{ name: 'x', shape: ['n'] }], outputs: ['y'], initializers });
}

function productsOfSums(): Uint8Array {
  const rank = 24;
  const names = Array.from({ length: rank }, (_, i) => `n${i}`);
  const nodes: OnnxNodeSpec[] = [
    { op: 'Pad', inputs: ['x', 'pads'], outputs: ['padded'] },
    { op: 'Shape', inputs: ['padded'], outputs: ['shape'] },
    { op: 'ReduceProd', inputs: ['shape'], outputs: ['count'], attributes: { keepdims: 1 } },
    { op: 'Reshape', inputs: ['padded', 'count'], outputs: ['flat'] },
    { op: 'Concat', inputs: ['flat', 'flat'], outputs: ['y'], attributes: { axis: 0 } },
  ];
  const initializers = {
    pads: HostTensor.from('int64', [2 * rank], new Array<number>(2 * rank).fill(1)),
  };
  return model({ nodes, inputs: [{ name: 'x', shape: names }], outputs: ['y'], initializers });
}

function manyNodes(): Uint8Array {
  const nodes = Array.from({ length: 300_000 }, (_, i) => ({
    op: 'Add',
    inputs: [i === 0 ? 'x' : String(i - 1), 'x'],
    outputs: [String(i)],
  }));
  return model({ nodes, inputs: [{ name: 'x', shape: [4] }], outputs: ['299999'] });
}
