import { describe, expect, test } from 'vitest';
import type { DType } from '../../../core/tensor/dtype.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import * as f from '../build.ts';
import type { Formula } from '../expression.ts';
import { renderScalar } from './render-scalar.ts';

interface Rendered {
  readonly dtypes: readonly DType[];
  readonly output?: DType;
  readonly attributes?: Attributes;
  readonly width?: 1 | 4;
}

/** The lines that a formula becomes, then the functions it calls. */
function render(formula: Formula, { dtypes, output, attributes = {}, width = 1 }: Rendered) {
  const lines: string[] = [];
  const functions = new Set<string>();
  const call = { attributes, dtypes, output: output ?? dtypes[0] ?? 'float32' };
  const result = renderScalar({ formula }, call, {
    operands: ['a', 'b', 'c'],
    width,
    bind: (text) => {
      lines.push(`let v${lines.length} = ${text};`);
      return `v${lines.length - 1}`;
    },
    declare: (name) => functions.add(name),
  });
  return [...lines, result, ...functions].join('\n');
}

describe('WGSL of formulas', () => {
  const relu = f.select(f.less(f.X, 0), 0, f.X);

  test('constants have the type of their place', () => {
    const of = (dtype: DType, width: 1 | 4 = 1) => render(relu, { dtypes: [dtype], width });
    expect(of('float32')).toBe('select(a, 0f, (a < 0f))');
    expect(of('float32', 4)).toBe('select(a, vec4<f32>(0f), (a < vec4<f32>(0f)))');
    expect(of('int8')).toBe('select(a, i32(0), (a < i32(0)))');
    expect(of('int64')).toBe('select(a, vec2<u32>(), (a.y >> 31u == 1u))');
    const sum = f.add(f.X, -2);
    expect(render(sum, { dtypes: ['int64'] })).toBe(
      'wide_add(a, vec2<u32>(4294967294u, 4294967295u))\nwide_add',
    );
  });

  test('attributes are constants', () => {
    const limit = f.min(f.X, f.convert(f.attribute('max'), 'output'));
    const attributes = { max: 20.75 };
    expect(render(limit, { dtypes: ['float32'], attributes })).toBe(
      'select(a, 20.75f, a > 20.75f)',
    );
    expect(render(limit, { dtypes: ['int32'], attributes })).toBe('min(a, i32(20))');
  });

  test('values that are written more than once are bound', () => {
    const twice = f.bound('rest', f.rem(f.A, f.B), (rest) => f.add(rest, rest));
    expect(render(twice, { dtypes: ['int32', 'int32'], width: 4 })).toBe(
      'let v0 = fmod_i32x4(a, b);\n(v0 + v0)\nfmod_i32\nfmod_i32x4',
    );
    expect(render(f.max(f.mul(f.A, f.B), 1), { dtypes: ['float32', 'float32'] })).toBe(
      'let v0 = (a * b);\nselect(v0, 1f, v0 < 1f)',
    );
  });

  test('conversions saturate, and NaN gives 0', () => {
    expect(render(f.convert(f.X, 'output'), { dtypes: ['float32'], output: 'int8' })).toBe(
      'select(i32(clamp(a, (-2147483648f), 2147483520f)), i32(), ' +
        '(bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u)',
    );
    expect(render(f.convert(f.X, 'output'), { dtypes: ['uint32'], output: 'int64' })).toBe(
      'vec2<u32>(a, 0u)',
    );
  });

  test('types that differ are a bug', () => {
    expect(() => render(f.add(f.A, f.B), { dtypes: ['float32', 'int32'] })).toThrow(
      'binary has an operand i32 where it takes f32',
    );
    expect(() => render(f.A, { dtypes: ['float32'], output: 'int32' })).toThrow(
      'a formula gives f32 where int32 is wanted',
    );
  });
});
