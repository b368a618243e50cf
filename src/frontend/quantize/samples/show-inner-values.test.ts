import { expect, test } from 'vitest';
import { Session, Tensor } from '../../../client/index.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import {
  type OnnxGraphSpec,
  type OnnxModelSpec,
  writeOnnxModel,
} from '../../../testing/onnx-writer.ts';
import { compileOnnx, observeOnnx } from '../../index.ts';
import { readModel } from '../../onnx/protobuf/read-model.ts';
import { GraphScope } from '../graph-scope.ts';
import type { FloatValue } from './layer-inputs.ts';
import { readShownValue, showInnerValues } from './show-inner-values.ts';

/** Values of these names in inner graphs, for each of the runs. */
async function shownIn(
  spec: OnnxModelSpec,
  names: readonly string[],
  runs: readonly Readonly<Record<string, Tensor>>[],
) {
  const bytes = writeOnnxModel(spec);
  const { model, graph } = readModel(bytes);
  const main = new GraphScope(graph);
  const values = names.flatMap((name) =>
    main
      .all()
      .filter((scope) => scope.owner !== undefined && scope.producerOf(name) !== undefined)
      .map((scope) => ({ scope, name })),
  );
  expect(values).toHaveLength(names.length);
  const found = showInnerValues(bytes, { model, main, values });
  const outputs = found.shown.flatMap((each) => (each ? [each.elements, each.shapes] : []));
  const open = (model: Uint8Array) =>
    Session.load(compileOnnx(model).toBytes(), { device: 'host', worker: false });
  const [plain, session] = [await open(bytes), await open(observeOnnx(found.bytes, outputs))];
  const result: (readonly FloatValue[] | undefined)[][] = [];
  for (const inputs of runs) {
    const [before, results] = [await plain.run(inputs), await session.run(inputs)];
    // Its own outputs stay what they were.
    for (const [name, value] of Object.entries(before)) expect(results[name]).toEqual(value);
    result.push(
      found.shown.map((each) => {
        if (each === undefined) return undefined;
        const [elements, shapes] = [results[each.elements], results[each.shapes]] as Tensor[];
        return readShownValue(elements?.data as Float32Array, shapes?.data as BigInt64Array);
      }),
    );
  }
  await Promise.all([plain.dispose(), session.dispose()]);
  return result;
}

const scalar = (value: number | boolean): Tensor =>
  typeof value === 'boolean'
    ? new Tensor('bool', Uint8Array.of(Number(value)), [])
    : new Tensor('int64', BigInt64Array.of(BigInt(value)), []);
const floats = (shape: readonly number[], ...values: number[]): Tensor =>
  new Tensor('float32', Float32Array.from(values), shape);
const value = (shape: readonly number[], ...data: number[]) => ({
  shape,
  data: Float32Array.from(data),
});

const negated: OnnxGraphSpec = {
  nodes: [{ op: 'Neg', inputs: ['x'], outputs: ['negated'] }],
  outputs: ['negated'],
};
const doubled: OnnxGraphSpec = {
  nodes: [
    { op: 'Add', inputs: ['x', 'x'], outputs: ['doubled'] },
    { op: 'Abs', inputs: ['doubled'], outputs: ['absolute'] },
  ],
  outputs: ['absolute'],
};

test('a branch shows its values where it is taken', async () => {
  const spec: OnnxModelSpec = {
    inputs: [
      { name: 'c', shape: [], dtype: 'bool' },
      { name: 'x', shape: ['n', 2] },
    ],
    nodes: [
      {
        op: 'If',
        inputs: ['c'],
        outputs: ['y'],
        attributes: { then_branch: { graph: negated }, else_branch: { graph: doubled } },
      },
    ],
    outputs: ['y'],
  };
  const x = floats([1, 2], 1, -2);
  const both = await shownIn(
    spec,
    ['negated', 'doubled'],
    [
      { c: scalar(true), x },
      { c: scalar(false), x: floats([2, 2], 1, 2, 3, 4) },
    ],
  );
  expect(both).toEqual([
    [[value([1, 2], -1, 2)], []],
    [[], [value([2, 2], 2, 4, 6, 8)]],
  ]);
});

test('a loop shows those of each iteration, of any size, also of branches in it', async () => {
  const body: OnnxGraphSpec = {
    inputs: [
      { name: 'i', shape: [], dtype: 'int64' },
      { name: 'before', shape: [], dtype: 'bool' },
      { name: 'sum', shape: ['m'] },
    ],
    nodes: [
      { op: 'Concat', inputs: ['sum', 'x'], outputs: ['longer'], attributes: { axis: 0 } },
      { op: 'Less', inputs: ['i', 'limit'], outputs: ['less'] },
      {
        op: 'If',
        inputs: ['less'],
        outputs: ['step'],
        attributes: {
          then_branch: {
            graph: {
              nodes: [{ op: 'Neg', inputs: ['longer'], outputs: ['inner'] }],
              outputs: ['inner'],
            },
          },
          else_branch: {
            graph: {
              nodes: [{ op: 'Abs', inputs: ['longer'], outputs: ['other'] }],
              outputs: ['other'],
            },
          },
        },
      },
      { op: 'ReduceSum', inputs: ['step'], outputs: ['total'] },
      { op: 'Identity', inputs: ['before'], outputs: ['after'] },
    ],
    outputs: ['after', 'step', 'total'],
  };
  const spec: OnnxModelSpec = {
    inputs: [
      { name: 'n', shape: [], dtype: 'int64' },
      { name: 'x', shape: [1] },
      { name: 'limit', shape: [], dtype: 'int64' },
    ],
    nodes: [
      {
        op: 'Loop',
        inputs: ['n', '', 'x'],
        outputs: ['last', 'totals'],
        attributes: { body: { graph: body } },
      },
    ],
    outputs: ['last', 'totals'],
  };
  const shown = await shownIn(
    spec,
    ['longer', 'inner'],
    [
      { n: scalar(3), x: floats([1], 1), limit: scalar(2) },
      { n: scalar(0), x: floats([1], 1), limit: scalar(2) },
    ],
  );
  expect(shown[0]).toEqual([
    [value([2], 1, 1), value([3], -1, -1, 1), value([4], 1, 1, -1, 1)],
    [value([2], -1, -1), value([3], 1, 1, -1)],
  ]);
  expect(shown[1]).toEqual([[], []]);
});

test('a scan shows those of each slice', async () => {
  const body: OnnxGraphSpec = {
    inputs: [
      { name: 'state', shape: [2] },
      { name: 'slice', shape: [2] },
    ],
    nodes: [
      { op: 'Add', inputs: ['state', 'slice'], outputs: ['next'] },
      { op: 'Neg', inputs: ['next'], outputs: ['scanned'] },
    ],
    outputs: ['next', 'scanned'],
  };
  const spec: OnnxModelSpec = {
    inputs: [{ name: 'x', shape: ['n', 2] }],
    nodes: [
      {
        op: 'Scan',
        inputs: ['zero', 'x'],
        outputs: ['', 'y'],
        attributes: { body: { graph: body }, num_scan_inputs: 1 },
      },
    ],
    initializers: { zero: HostTensor.zeros('float32', [2]) },
    outputs: ['y'],
  };
  const shown = await shownIn(spec, ['next'], [{ x: floats([2, 2], 1, 2, 3, 4) }]);
  expect(shown).toEqual([[[value([2], 1, 2), value([2], 4, 6)]]]);
});
