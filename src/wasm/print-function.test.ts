import { expect, test } from 'vitest';
import {
  apply,
  f32x4,
  i32,
  lane,
  load,
  local,
  multiplyAdd,
  select,
  shuffle32,
  withLane,
} from './expression.ts';
import { printFunction } from './print-function.ts';
import { call, increment, loop, set, store, when } from './statement.ts';

test('a function is printed as a loop nest', () => {
  const [from, to, index] = [local('i32'), local('i32'), local('i32')];
  const sum = local('v128');
  const text = printFunction(
    {
      name: 'step',
      params: [from, to],
      body: [
        set(sum, f32x4(0.5)),
        ...loop({ index, end: i32(16), step: 4 }, [
          set(sum, multiplyAdd(load('v128', from), load('splat32', to, 8), sum)),
          increment(from, 16),
        ]),
        ...when(
          apply('i32.lt_s', from, apply('i32.mul', to, i32(3))),
          [store('f32', { address: to, offset: 4 }, lane('f32x4', sum, 2))],
          [call('other', [from, select(to, i32(1), i32(2))])],
        ),
        set(sum, withLane('f32x4', sum, { index: 1, scalar: load('f32', to) })),
        set(sum, shuffle32(sum, sum, [0, 4, 1, 5])),
      ],
    },
    new Map([[from, 'value0']]),
  );
  expect(text).toBe(`function step(value0: i32, i0: i32) {
  v0 = i32x4.splat(0x3f000000)
  for i1 = 0 to 16 step 4 {
    v0 = madd(v128[value0], splat32[i0 + 8], v0)
    value0 += 16
  }
  if value0 < (i0 * 3) {
    f32[i0 + 4] = f32x4.extract_lane 2 (v0)
  } else {
    other(value0, select(i0, 1, 2))
  }
  v0 = f32x4.replace_lane 1 (v0, f32[i0])
  v0 = shuffle(v0, v0, 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23)
}
`);
});
