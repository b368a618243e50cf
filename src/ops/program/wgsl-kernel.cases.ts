import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

const COPY = `@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.count) { store(id.x, load_a(id.x)); }
}`;

export const wgslKernelCases: OpCases = {
  summary: 'The result of WGSL that the program brings; on the host, of the alternative.',
  cases: () => [
    ...(['float32', 'float16', 'int32', 'uint32', 'bool'] as const).map((dtype) =>
      copyCase(dtype, [3, 5]),
    ),
    copyCase('float32', []),
    copyCase('float32', [0, 3]),
    {
      ...copyCase('float32', [7]),
      title: 'without a use of its inputs but the alternative',
      attributes: {
        ...copyCase('float32', [7]).attributes,
        name: 'other',
        workgroup: [8, 1, 1],
        grid: [1, 1, 1],
      },
    },
  ],
  badCases: () => {
    const good = copyCase('float32', [4]);
    const bad = (title: string, attributes: Attributes): OpCase => ({
      ...good,
      title,
      attributes: { ...good.attributes, ...attributes },
    });
    return [
      bad('no name for a size', { params: [] }),
      bad('a name that is none', { params: ['a b'] }),
      bad('another shape than the alternative', { shape: [5] }),
      bad('another dtype than the alternative', { dtype: 'int32' }),
      bad('a grid of two dimensions', { grid: [1, 1] }),
      bad('an empty workgroup', { workgroup: [0, 1, 1] }),
      bad('a workgroup that is too large', { workgroup: [64, 8, 1] }),
      bad('a negative grid', { grid: [-1, 1, 1] }),
      { ...good, title: 'too many inputs', inputs: Array(9).fill(good.inputs[0]) },
      { ...good, title: 'no inputs and no alternative', inputs: [] },
    ];
  },
};

function copyCase(dtype: 'float32' | 'float16' | 'int32' | 'uint32' | 'bool', shape: number[]) {
  const count = shape.reduce((product, dim) => product * dim, 1);
  const input = { dtype, shape, values: Array.from({ length: count }, (_, i) => i % 2) };
  return {
    title: `a copy of ${dtype} (${shape.join(', ')})`,
    inputs: [input, input],
    attributes: {
      code: COPY,
      shape,
      dtype,
      grid: [Math.ceil(count / 4), 1, 1],
      workgroup: [4, 1, 1],
      params: ['count'],
      sizes: [count],
      alternative: true,
    },
  };
}
