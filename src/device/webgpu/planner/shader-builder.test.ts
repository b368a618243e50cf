import { expect, test } from 'vitest';
import { f32, i32, type KernelConstant, u32 } from '../../../ops/lowering/lowering.ts';
import { ShaderBuilder } from './shader-builder.ts';

function constantsOf(constants: Readonly<Record<string, KernelConstant>>): string[] {
  const shader = new ShaderBuilder();
  for (const [name, value] of Object.entries(constants)) shader.constant(name, value);
  return shader.code('').trimEnd().split('\n');
}

test('constants have the type that they were given', () => {
  const constants = {
    A: true,
    B: 3,
    C: u32(4_294_967_295),
    D: i32(-1),
    E: i32(-2_147_483_648),
    F: f32(0.5),
    G: f32(-1),
    H: f32(1e30),
    I: f32(2),
  };
  expect(constantsOf(constants)).toMatchInlineSnapshot(`
    [
      "const A: bool = true;",
      "const B: u32 = 3u;",
      "const C: u32 = 4294967295u;",
      "const D: i32 = i32(-1);",
      "const E: i32 = i32(-2147483648);",
      "const F: f32 = 0.5f;",
      "const G: f32 = (-1f);",
      "const H: f32 = 1.0000000150474662e+30f;",
      "const I: f32 = 2f;",
    ]
  `);
});

test.each([
  [0.5, '0.5', 'u32'],
  [-1, '-1', 'u32'],
  [u32(4_294_967_296), '4294967296', 'u32'],
  [i32(2_147_483_648), '2147483648', 'i32'],
  [f32(Infinity), 'Infinity', 'f32'],
  [f32(NaN), 'NaN', 'f32'],
  [f32(1e39), '1e+39', 'f32'],
] as const)('a constant %j is refused', (value, got, type) => {
  expect(() => constantsOf({ EPSILON: value })).toThrow(
    `constant EPSILON: got ${got}, expected a number that ${type} has. Give it a type: f32(0.5), i32(-1).`,
  );
});
