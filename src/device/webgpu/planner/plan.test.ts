import { describe, expect, test } from 'vitest';
import type { LaunchPlan, PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { plan, supports } from './plan.ts';
import { plannerCaps } from '../../../testing/planner-caps.ts';

const CAPS = plannerCaps('software', { subgroups: true, subgroupMinSize: 4 });

const tensor = (...shape: number[]) => ({ dtype: 'float32' as const, shape });

function planOf(primitive: PrimitiveFunction, caps: Partial<PlannerCaps> = {}): LaunchPlan {
  const shapes = {
    params: primitive.params.map(({ shape }) => shape.map(Number)),
    results: primitive.results.map(({ type }) => type.shape.map(Number)),
  };
  return plan(primitive, shapes, { caps: { ...CAPS, ...caps }, operators: CORE_OPERATORS });
}

function biasRelu(rows: number, columns: number): PrimitiveFunction {
  return {
    name: 'bias_relu',
    params: [tensor(rows, columns), tensor(columns)],
    body: [
      { op: 'add', inputs: [0, 1], attributes: {} },
      { op: 'relu', inputs: [2], attributes: {} },
    ],
    results: [{ value: 3, type: tensor(rows, columns) }],
  };
}

function matmul(m: number, k: number, n: number): PrimitiveFunction {
  return {
    name: 'matmul',
    params: [tensor(m, k), tensor(k, n)],
    body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type: tensor(m, n) }],
  };
}

function conv(kernel: number, groups = 1): PrimitiveFunction {
  const pad = kernel >> 1;
  return {
    name: 'conv2d',
    params: [tensor(1, 16, 12, 12), tensor(32, 16 / groups, kernel, kernel), tensor(32)],
    body: [
      {
        op: 'conv2d',
        inputs: [0, 1, 2],
        attributes: { strides: [1, 1], pads: [pad, pad, pad, pad], dilations: [1, 1], groups },
      },
    ],
    results: [{ value: 3, type: tensor(1, 32, 12, 12) }],
  };
}

const labels = (launchPlan: LaunchPlan) => launchPlan.launches.map(({ label }) => label);

describe('generated kernels', () => {
  test('an elementwise chain in groups of four, with a suffix operand', () => {
    expect(planOf(biasRelu(6, 8)).launches[0]?.code).toMatchInlineSnapshot(`
      "struct Params {
        item_count: u32,
        row_length: u32,
        items_per_invocation: u32,
        p3: u32,
      }
      @group(0) @binding(0) var<uniform> params: Params;
      @group(0) @binding(1) var<storage, read> buffer1: array<vec4<f32>>;
      @group(0) @binding(2) var<storage, read> buffer2: array<vec4<f32>>;
      @group(0) @binding(3) var<storage, read_write> buffer3: array<vec4<f32>>;
      @compute @workgroup_size(16)
      fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let lane = id.x + id.y * params.row_length;
        let first = (lane & ~3u) * params.items_per_invocation + (lane & 3u);
        for (var n = 0u; n < params.items_per_invocation; n++) {
          let i = first + n * 4u;
          if (i >= params.item_count) {
            return;
          }
          let v0 = buffer1[i];
          let i1 = (i) % params.p3;
          let v2 = buffer2[i1];
          let v3 = (v0 + v2);
          let v4 = select(v3, vec4<f32>(0f), (v3 < vec4<f32>(0f)));
          buffer3[i] = v4;
        }
      }
      "
    `);
  });

  test('a transpose maps indices', () => {
    const primitive: PrimitiveFunction = {
      name: 'transpose',
      params: [tensor(3, 5)],
      body: [{ op: 'transpose', inputs: [0], attributes: { perm: [1, 0] } }],
      results: [{ value: 1, type: tensor(5, 3) }],
    };
    expect(planOf(primitive).launches[0]?.code).toMatchInlineSnapshot(`
      "struct Params {
        item_count: u32,
        row_length: u32,
        items_per_invocation: u32,
        p3: u32,
        p4: u32,
      }
      @group(0) @binding(0) var<uniform> params: Params;
      @group(0) @binding(1) var<storage, read> buffer1: array<f32>;
      @group(0) @binding(2) var<storage, read_write> buffer2: array<f32>;
      @compute @workgroup_size(16)
      fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let lane = id.x + id.y * params.row_length;
        let first = (lane & ~3u) * params.items_per_invocation + (lane & 3u);
        for (var n = 0u; n < params.items_per_invocation; n++) {
          let i = first + n * 4u;
          if (i >= params.item_count) {
            return;
          }
          let c0 = i / params.p3;
          let c1 = i - c0 * params.p3;
          let i2 = (c1) * params.p4 + (c0);
          let v3 = buffer1[i2];
          buffer2[i] = v3;
        }
      }
      "
    `);
  });

  test('on software adapters loop over lanes where that compiles faster and little is computed', () => {
    const concat = (rows: number): PrimitiveFunction => ({
      name: 'concat',
      params: [tensor(rows, 3, 2, 5, 3), tensor(rows, 3, 2, 5, 5)],
      body: [{ op: 'concat', inputs: [0, 1], attributes: { axis: 4 } }],
      results: [{ value: 2, type: tensor(rows, 3, 2, 5, 8) }],
    });
    const loops = (rows: number, caps?: Partial<PlannerCaps>) =>
      planOf(concat(rows), caps).launches[0]?.code.includes('lane < 4u');
    expect(loops(2)).toBe(true);
    expect(loops(20)).toBe(false);
    expect(loops(2, { adapterClass: 'discrete' })).toBe(false);
  });

  test('long code for a lane is a loop, however much is computed', () => {
    const transposed = (rows: number, caps?: Partial<PlannerCaps>) => {
      const parts = [1, 2, 3].map((input) => ({
        op: 'transpose',
        inputs: [input - 1],
        attributes: { perm: [0, 2, 3, 1] },
      }));
      const primitive: PrimitiveFunction = {
        name: 'concat',
        params: parts.map(() => tensor(rows, 4, 3, 5)),
        body: [...parts, { op: 'concat', inputs: [3, 4, 5], attributes: { axis: 1 } }],
        results: [{ value: 6, type: tensor(rows, 9, 5, 4) }],
      };
      return planOf(primitive, caps).launches[0]?.code;
    };
    expect(transposed(1000)).toContain('lane < 4u');
    expect(transposed(1000, { adapterClass: 'discrete' })).not.toContain('lane < 4u');
  });

  test('coordinates of what is sliced are not divided again', () => {
    const primitive: PrimitiveFunction = {
      name: 'slice_of_slice',
      params: [tensor(7, 5, 9)],
      body: [0, 1].map((input) => ({
        op: 'slice',
        inputs: [input],
        attributes: { starts: [1, 1, 1], ends: [6, 4, 8], steps: [1, 1, 1] },
      })),
      results: [{ value: 2, type: tensor(4, 2, 6) }],
    };
    const divisions = planOf(primitive).launches[0]?.code.split(' / ').length;
    expect(divisions).toBe(3);
  });

  test('a reshape costs nothing', () => {
    const primitive: PrimitiveFunction = {
      name: 'reshape_relu',
      params: [tensor(3, 5)],
      body: [
        { op: 'reshape', inputs: [0], attributes: { shape: [15] } },
        { op: 'relu', inputs: [1], attributes: {} },
      ],
      results: [{ value: 2, type: tensor(15) }],
    };
    expect(planOf(primitive).launches[0]?.code).not.toContain('/');
  });
});

describe('shapes', () => {
  test('travel as parameters: another size of the same structure has equal code', () => {
    const small = planOf(biasRelu(6, 8)).launches[0];
    const large = planOf(biasRelu(600, 800)).launches[0];
    expect(large?.code).toBe(small?.code);
    expect(large?.params).not.toEqual(small?.params);
    expect(planOf(matmul(40, 64, 48)).launches[0]?.code).toBe(
      planOf(matmul(400, 640, 52)).launches[0]?.code,
    );
  });

  test('without elements launch nothing', () => {
    expect(planOf(biasRelu(0, 8)).launches).toEqual([]);
    expect(planOf(matmul(0, 3, 4)).launches).toEqual([]);
  });

  test('beyond the limit of workgroups fold to two dimensions', () => {
    const { workgroups } = planOf(biasRelu(70_001, 4099), { adapterClass: 'discrete' })
      .launches[0] ?? {
      workgroups: [0, 0, 0],
    };
    expect(Math.max(...workgroups)).toBeLessThanOrEqual(65_535);
    expect(workgroups[0] * workgroups[1] * 64).toBeGreaterThanOrEqual(70_001 * 4099);
  });
});

describe('variants', () => {
  test.each([
    ['software', 'matmul-tile', 'conv2d-tile'],
    ['integrated', 'matmul-tiled', 'matmul-tiled'],
    ['discrete', 'matmul-tiled', 'matmul-tiled'],
  ] as const)('of class %s', (adapterClass, product, convolution) => {
    expect(labels(planOf(matmul(64, 64, 64), { adapterClass }))).toEqual([product]);
    expect(labels(planOf(conv(3), { adapterClass }))).toEqual([convolution]);
    expect(labels(planOf(conv(1), { adapterClass }))).toEqual([product]);
  });

  test('on software adapters use neither workgroup memory nor barriers', () => {
    for (const primitive of [matmul(64, 64, 64), conv(3), conv(1), conv(3, 16)]) {
      for (const { code } of planOf(primitive).launches) {
        expect(code).not.toMatch(/var<workgroup>|workgroupBarrier/);
      }
    }
  });

  test('without subgroups enable nothing', () => {
    const [launch] = planOf(matmul(64, 64, 64), { subgroups: false, subgroupMinSize: 0 }).launches;
    expect(launch?.code).not.toMatch(/enable subgroups|quadSwap/);
  });
});

describe('fusion', () => {
  test('takes a consumer into the store hook', () => {
    const primitive: PrimitiveFunction = {
      ...matmul(4, 8, 4),
      body: [
        { op: 'matmul', inputs: [0, 1], attributes: {} },
        { op: 'relu', inputs: [2], attributes: {} },
      ],
      results: [{ value: 3, type: tensor(4, 4) }],
    };
    const { launches, scratchByteLengths } = planOf(primitive);
    expect(launches).toHaveLength(1);
    expect(scratchByteLengths).toEqual([]);
    expect(launches[0]?.code).toContain('fn store4(i: u32, value: vec4<f32>) {\n  let');
  });

  test('never reads a buffer that the same kernel writes', () => {
    const primitive: PrimitiveFunction = {
      name: 'relu_and_its_transpose',
      params: [tensor(3, 5)],
      body: [
        { op: 'relu', inputs: [0], attributes: {} },
        { op: 'transpose', inputs: [1], attributes: { perm: [1, 0] } },
      ],
      results: [
        { value: 1, type: tensor(3, 5) },
        { value: 2, type: tensor(5, 3) },
      ],
    };
    const [launch] = planOf(primitive).launches;
    const written = launch?.bindings.filter(({ access }) => access === 'read_write');
    expect(launch?.bindings).toHaveLength(3);
    expect(written?.map(({ buffer }) => buffer.index)).toEqual([1, 2]);
  });

  test('keeps an anchor that is also a result', () => {
    const primitive: PrimitiveFunction = {
      ...matmul(4, 8, 4),
      body: [
        { op: 'matmul', inputs: [0, 1], attributes: {} },
        { op: 'relu', inputs: [2], attributes: {} },
      ],
      results: [
        { value: 2, type: tensor(4, 4) },
        { value: 3, type: tensor(4, 4) },
      ],
    };
    expect(labels(planOf(primitive))).toEqual(['matmul-tile', 'relu']);
  });
});

describe('a transpose behind a product', () => {
  const heads: PrimitiveFunction = {
    name: 'heads',
    params: [tensor(6, 8), tensor(8, 12)],
    body: [
      { op: 'matmul', inputs: [0, 1], attributes: {} },
      { op: 'relu', inputs: [2], attributes: {} },
      { op: 'reshape', inputs: [3], attributes: { shape: [2, 3, 3, 4] } },
      { op: 'transpose', inputs: [4], attributes: { perm: [0, 2, 1, 3] } },
    ],
    results: [{ value: 5, type: tensor(2, 3, 3, 4) }],
  };

  test('is where the product stores its elements', () => {
    expect(labels(planOf(heads))).toEqual(['matmul-tile']);
  });

  test('is a kernel of its own where somebody wants the product as well', () => {
    const both = { ...heads, results: [{ value: 4, type: tensor(2, 3, 3, 4) }, ...heads.results] };
    expect(labels(planOf(both))).toEqual(['matmul-tile', 'transpose']);
  });
});

describe('elements that share words', () => {
  const half = (...shape: number[]) => ({ dtype: 'float16' as const, shape });
  const doubled = (count: number): PrimitiveFunction => ({
    name: 'doubled',
    params: [half(count)],
    body: [{ op: 'add', inputs: [0, 0], attributes: {} }],
    results: [{ value: 1, type: half(count) }],
  });
  const codeOf = (primitive: PrimitiveFunction, caps: Partial<PlannerCaps> = {}) =>
    planOf(primitive, caps).launches[0]?.code ?? '';

  test('are loaded and stored four at a time', () => {
    const code = codeOf(doubled(8));
    expect(code).toContain('var<storage, read> buffer1: array<vec2<u32>>;');
    expect(code).toContain(
      'vec4<f32>(unpack2x16float(buffer1[i].x), unpack2x16float(buffer1[i].y))',
    );
    expect(code).toContain('buffer2[i] = pack16(half_bits4(v1));');
    expect(code).not.toContain('atomic');
  });

  test('are set by atomics where a row has a tail', () => {
    const code = codeOf(doubled(7));
    expect(code).toContain('var<storage, read_write> buffer2: array<atomic<u32>>;');
    expect(code).toContain('set_buffer2(i, half_bits1(v1));');
  });

  test('are elements of their own with shader-f16', () => {
    const [wide, narrow] = [8, 7].map((count) => codeOf(doubled(count), { shaderF16: true }));
    expect(wide).toMatch(/^enable f16;\n/);
    expect(wide).toContain('let v0 = vec4<f32>(buffer1[i]);');
    expect(wide).toContain('var<storage, read_write> buffer2: array<vec2<u32>>;');
    expect(wide).toContain('buffer2[i] = pack16(half_bits4(v1));');
    expect(narrow).toContain('let v0 = f32(buffer1[i]);');
    expect(narrow).toContain('buffer2[i] = f16(unpack2x16float(half_bits1(v1)).x);');
    expect(codeOf(biasRelu(2, 4), { shaderF16: true })).not.toContain('f16');
  });

  test('wrap to their range after each operator', () => {
    const bytes = { dtype: 'int8' as const, shape: [4] };
    const code = codeOf({
      name: 'bytes',
      params: [bytes],
      body: [
        { op: 'add', inputs: [0, 0], attributes: {} },
        { op: 'abs', inputs: [1], attributes: {} },
      ],
      results: [{ value: 2, type: bytes }],
    });
    expect(code).toContain('let v1 = ((((v0 + v0)) << vec4<u32>(24u)) >> vec4<u32>(24u));');
    expect(code).toContain('buffer2[i] = pack8(bitcast<vec4<u32>>(v2));');
  });

  test('a conversion in the middle of a chain rounds', () => {
    const code = codeOf({
      name: 'through_half',
      params: [tensor(4)],
      body: [
        { op: 'cast', inputs: [0], attributes: { to: 'float16' } },
        { op: 'cast', inputs: [1], attributes: { to: 'float32' } },
      ],
      results: [{ value: 2, type: tensor(4) }],
    });
    expect(code).toContain('let v1 = round_half4(v0);');
  });
});

describe('refusals', () => {
  test('name the operator and the dtype', () => {
    const primitive: PrimitiveFunction = {
      name: 'add_double',
      params: [{ dtype: 'float64', shape: [2] }],
      body: [{ op: 'add', inputs: [0, 0], attributes: {} }],
      results: [{ value: 1, type: { dtype: 'float64', shape: [2] } }],
    };
    expect(supports(primitive, CORE_OPERATORS)).toMatchInlineSnapshot(
      `"add: no kernels for float64"`,
    );
    expect(() => planOf(primitive)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: kernel add_double: got a float64 tensor, expected a dtype that WebGPU kernels have. Run it on the host device.]`,
    );
  });

  test('destinations of another type, inputs of a wrong number, values beyond 32 bits', () => {
    const of = (body: PrimitiveFunction['body'], result = tensor(4)): PrimitiveFunction => ({
      name: 'p',
      params: [tensor(4)],
      body,
      results: [{ value: body.length, type: result }],
    });
    const relu = { op: 'relu', inputs: [0], attributes: {} };
    const spread = { op: 'broadcast_to', inputs: [0], attributes: { shape: [2 ** 31, 4] } };
    const cut = { starts: [2 ** 30, 0], ends: [2 ** 30 + 1, 4] };
    const refused: [PrimitiveFunction, string][] = [
      [of([relu], tensor(5)), 'kernel p, result 0: got float32 (4,), expected float32 (5,)'],
      [
        { ...of([relu]), results: [{ value: 1, type: { dtype: 'int32', shape: [4] } }] },
        'kernel p, result 0: got float32 (4,), expected int32 (4,), that of the destination.',
      ],
      [of([{ ...relu, op: 'add' }]), 'add: got 1 input, expected a, b.'],
      [of([{ ...relu, inputs: [-1] }]), 'relu: input x: got nothing, expected a tensor.'],
      [
        of([spread, { op: 'slice', inputs: [1], attributes: cut }], tensor(1, 4)),
        'kernel p: got a value float32 (2147483648, 4), expected less than 2^32 elements.',
      ],
    ];
    for (const [primitive, message] of refused) expect(() => planOf(primitive)).toThrow(message);
  });

  test('primitives that no shader should be made of', () => {
    const chain = (count: number): PrimitiveFunction => ({
      name: 'chain',
      params: [tensor(2)],
      body: Array.from({ length: count }, (_, i) => ({ op: 'neg', inputs: [i], attributes: {} })),
      results: [{ value: count, type: tensor(2) }],
    });
    expect(supports(chain(1000), CORE_OPERATORS)).toBe('1000 operator calls, at most 256');
    expect(supports(chain(256), CORE_OPERATORS)).toBe(undefined);
    expect(planOf(chain(256)).launches).toHaveLength(1);
    const doubled: PrimitiveFunction = {
      name: 'doubled',
      params: [tensor(2, 2)],
      body: Array.from({ length: 20 }, (_, i) => {
        return { op: 'concat', inputs: [i, i], attributes: { axis: 0 } };
      }),
      results: [{ value: 20, type: tensor(2 ** 21, 2) }],
    };
    expect(() => planOf(doubled)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: shader: got more than 8192 computed values, expected fewer. Cut the primitive into several.]`,
    );
  });

  test('many ways to a value are walked once', () => {
    const count = 60;
    const body = Array.from({ length: count }, (_, i) => {
      return { op: 'add', inputs: [i, i], attributes: {} };
    });
    const primitive: PrimitiveFunction = {
      name: 'squared',
      params: [tensor(4, 4)],
      body: [...body, { op: 'matmul', inputs: [count, count], attributes: {} }],
      results: [{ value: count + 1, type: tensor(4, 4) }],
    };
    expect(planOf(primitive).launches).toHaveLength(1);
  });

  test('a batch beyond the grid', () => {
    const primitive: PrimitiveFunction = {
      name: 'batched',
      params: [tensor(70_000, 2, 2), tensor(70_000, 2, 2)],
      body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
      results: [{ value: 2, type: tensor(70_000, 2, 2) }],
    };
    expect(
      planOf(primitive).launches.every(({ workgroups }) => Math.max(...workgroups) < 65_536),
    ).toBe(true);
  });

  test('too many buffers for one kernel', () => {
    const params = Array.from({ length: 12 }, () => tensor(2));
    const primitive: PrimitiveFunction = {
      name: 'concat',
      params,
      body: [{ op: 'concat', inputs: params.map((_, i) => i), attributes: { axis: 0 } }],
      results: [{ value: 12, type: tensor(24) }],
    };
    expect(() => planOf(primitive)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: kernel concat: got 13 storage buffers in concat, expected at most 8 on this adapter. Fuse fewer operators into one primitive function.]`,
    );
  });
});

test('lanes that are computed one by one are computed once, however often an operator names them', () => {
  const type = { dtype: 'float32' as const, shape: [6, 4] };
  const { launches } = planOf({
    name: 'sign_of_broadcast',
    params: [type, { ...type, shape: [4] }],
    body: [
      { op: 'mod', inputs: [0, 1], attributes: { fmod: false } },
      { op: 'broadcast_to', inputs: [2], attributes: { shape: [6, 4] } },
      { op: 'sign', inputs: [3], attributes: {} },
    ],
    results: [{ value: 4, type }],
  });
  const [code = ''] = launches.map((launch) => launch.code);
  const calls = code.match(/(?<!fn )element\d+\(/g) ?? [];
  expect(calls).toHaveLength(4);
});

describe('a small tensor whose lanes take many divisions', () => {
  const add = (rows: number | string): PrimitiveFunction => ({
    name: 'add',
    params: [
      { dtype: 'float32', shape: [rows, 3, 3, 3, 3] },
      { dtype: 'float32', shape: [3, 1, 3, 1] },
    ],
    body: [{ op: 'add', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type: { dtype: 'float32', shape: [rows, 3, 3, 3, 3] } }],
  });
  const codeOf = (primitive: PrimitiveFunction, rows: number): string | undefined => {
    const shapes = {
      params: [
        [rows, 3, 3, 3, 3],
        [3, 1, 3, 1],
      ],
      results: [[rows, 3, 3, 3, 3]],
    };
    return plan(primitive, shapes, {
      caps: { ...CAPS, adapterClass: 'software' },
      operators: CORE_OPERATORS,
    }).launches[0]?.code;
  };

  test('is computed by a loop over lanes', () => {
    expect(codeOf(add(4), 4)).toContain('lane < 4u');
  });

  test('has the code of large ones where another size compiles nothing', () => {
    expect(codeOf(add('n'), 4)).not.toContain('lane < 4u');
    expect(codeOf(add('n'), 4)).toBe(codeOf(add('n'), 4000));
  });
});
