import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import type { Device } from '../../device/device.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import { loadProgram } from '../testing/load-program.ts';

/** Programs that were once wrong somewhere, cut down by `npm run fuzz`. */
interface FoundProgram {
  readonly title: string;
  readonly program: string;
  readonly args: readonly HostInput[];
  readonly result: unknown;
}

const i64 = (shape: readonly number[], ...values: readonly number[]): HostTensor =>
  HostTensor.from('int64', shape, values);

const FOUND: readonly FoundProgram[] = [
  {
    title: 'a scatter of int64 with a comparison behind it calls the same function',
    program: `def @main(%x: Tensor[(1, 2), int64], %i: Tensor[(2, 2), int64], %u: Tensor[(2, 2), int64], %y: Tensor[(1,), int64]) {
      greater(scatter_elements(%x, %i, %u, axis=0, reduction="min"), %y)
    }`,
    args: [i64([1, 2], 3, 3), i64([2, 2], 0, 0, -1, 0), i64([2, 2], 1, 5, -4, 4), i64([1], 2)],
    result: [[0, 1]],
  },
  {
    title: 'a reduction of int64 with a comparison behind it calls the same function',
    program: `def @main(%x: Tensor[(2, 2), int64], %y: Tensor[(2,), int64]) {
      less(reduce_max(%x, axes=[1]), %y)
    }`,
    args: [i64([2, 2], 3, -3, 7, 8), i64([2], 4, 8)],
    result: [1, 0],
  },
  {
    title: 'a view may have its sizes in another form than its type',
    program: `def @main(%x: Tensor[(n, 3), int64], %y: Tensor[(2, 2), int64]) {
      (reshape(%x, shape=[n * 2 + n]), reshape(%y, shape=[2 * 2]), reshape(%x, shape=[n + n - n, 3]))
    }`,
    args: [i64([1, 3], 4, 5, 6), i64([2, 2], 1, 2, 3, 4)],
    result: [0, [4, 5, 6], [1, 2, 3, 4], [[4, 5, 6]]],
  },
  {
    title: 'a folded tensor of equal float16 elements has them as bits',
    program: `def @main() {
      cast(full(shape=[2], value=0.5, dtype="float16"), to="float32")
    }`,
    args: [],
    result: [0.5, 0.5],
  },
  {
    title: 'the least float16, whose bits are 1, is not 1',
    program: `def @main(%x: Tensor[(2,), float32]) {
      let %least = full(shape=[2], value=0.000000059604644775390625, dtype="float16");
      cast(mul(cast(%x, to="float16"), %least), to="float32")
    }`,
    args: [HostTensor.from('float32', [2], [1024, 2048])],
    result: [2 ** -14, 2 ** -13],
  },
  {
    title: 'a concat joins more tensors than a kernel binds',
    program: `def @main(%a: Tensor[(n, 1), int32]) {
      let %b = add(%a, %a);
      let %c = add(%b, %a);
      let %d = add(%c, %a);
      let %e = add(%d, %a);
      let %f = add(%e, %a);
      let %g = add(%f, %a);
      let %h = add(%g, %a);
      let %i = add(%h, %a);
      (concat(%a, %b, %c, %d, %e, %f, %g, %h, %i, axis=1), %b, %c, %d, %e, %f, %g, %h, %i)
    }`,
    args: [HostTensor.from('int32', [2, 1], [1, 2])],
    result: [
      0,
      [
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
        [2, 4, 6, 8, 10, 12, 14, 16, 18],
      ],
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((times) => [[times], [2 * times]]),
    ],
  },
  {
    title: 'what both branches read names a size for those behind them',
    program: `def @pad(%x: Tensor[(n,), float32], %by: int) -> Tensor[(?,), float32] {
      if (%by) { @pad(concat(%x, [1f], axis=0), int_sub(%by, #1)) } else { %x }
    }
    def @main(%x: Tensor[(?,), float32], %c: int) -> (Tensor[(?,), float32], int) {
      let %padded = slice(@pad(%x, #1), starts=[0], ends=[6]);
      ({ let %either: Tensor[(?,), float32] = if (%c) { %padded } else { %padded }; %either },
        dim(%padded, axis=0))
    }`,
    args: [HostTensor.from('float32', [2], [3, 4]), 1],
    result: [0, [3, 4, 1], 3],
  },
  {
    title: 'and so do clauses and closures',
    program: `def @pad(%x: Tensor[(n,), float32], %by: int) -> Tensor[(?,), float32] {
      if (%by) { @pad(concat(%x, [1f], axis=0), int_sub(%by, #1)) } else { %x }
    }
    def @main(%x: Tensor[(?,), float32], %c: int) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
      let %padded = slice(@pad(%x, %c), starts=[0], ends=[6]);
      let %f = fn (%k: int) -> Tensor[(?,), float32] { if (%k) { %padded } else { neg(%padded) } };
      let %y: Tensor[(?,), float32] = match (Some(%c)) { Some(%k) => %f(%k), None => %padded };
      (%y, { let %z: Tensor[(?,), float32] = if (%c) { %padded } else { %padded }; %z })
    }`,
    args: [HostTensor.from('float32', [2], [3, 4]), 2],
    result: [0, [3, 4, 1, 1], [3, 4, 1, 1]],
  },
  {
    title: 'elements of sizes that are found late join those that are known',
    program: `def @double(%x: Tensor[(n,), float32]) -> Tensor[(2 * n,), float32] {
      concat(%x, neg(%x), axis=0)
    }
    def @main(%x: Tensor[(?,), float32]) -> List[Tensor[(?,), float32]] {
      @map(@double, @append(Cons(%x, Nil), @map(@double, Nil)))
    }`,
    args: [HostTensor.from('float32', [1], [3])],
    result: [0, [3, -3], [1]],
  },
  {
    title: 'a function of a named size is passed to several places',
    program: `def @main(%x: Tensor[(?,), float32], %c: int) -> Tensor[(?,), float32] {
      let %f: fn (Tensor[(?,), float32]) -> Tensor[(?,), float32] =
        fn (%y: Tensor[(m,), float32]) -> Tensor[(?,), float32] { add(%y, full(shape=[m], value=1)) };
      let %g: fn (Tensor[(?,), float32]) -> Tensor[(?,), float32] =
        match ((if (%c) { Some(%c) } else { None }, Some(%x))) {
          (Some(%a), None) => %f, (_, Some(%b)) => %f, _ => %f
        };
      %f(%g(%x))
    }`,
    args: [HostTensor.from('float32', [2], [3, 4]), 1],
    result: [5, 6],
  },
  {
    title: 'a type that became wider makes those behind it wider',
    program: `def @double(%x: Tensor[(n,), float32]) -> Tensor[(2 * n,), float32] {
      concat(%x, neg(%x), axis=0)
    }
    def @main(%x: Tensor[(?,), float32]) -> List[Tensor[(?,), float32]] {
      let %list: List[Tensor[(?,), float32]] = Cons(neg(%x), Nil);
      @map(@double, @map(@double, Cons(%x, %list)))
    }`,
    args: [HostTensor.from('float32', [1], [3])],
    result: [0, [3, -3, -3, 3], [0, [-3, 3, 3, -3], [1]]],
  },
  {
    title: 'a field is read for nothing but its size',
    program: `def @main(%x: Tensor[(?,), float32], %c: int) -> Tensor[(?,), float32] {
      match ((Cons(%x, Nil), Some(%c))) {
        (Cons(%y, Nil), Some(%k)) => {
          let %z: Tensor[(m,), float32] = slice(%y, starts=[0], ends=[2]);
          full(shape=[m + 1], value=3, dtype="float32")
        },
        _ => %x
      }
    }`,
    args: [HostTensor.from('float32', [3], [1, 2, 3]), 1],
    result: [3, 3, 3],
  },
  {
    title: 'an operand names a size that its neighbours take over',
    program: `def @double(%x: Tensor[(n,), float32]) -> Tensor[(2 * n,), float32] {
      concat(%x, neg(%x), axis=0)
    }
    def @main(%x: Tensor[(?,), float32]) -> List[Tensor[(?,), float32]] {
      @map(@double, Cons({
        let %y: Tensor[(m,), float32] = %x;
        add(%y, full(shape=[m], value=2, dtype="float32"))
      }, @reverse(Nil)))
    }`,
    args: [HostTensor.from('float32', [1], [3])],
    result: [0, [5, -5], [1]],
  },
];

describe.each(DEVICES)('on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  test.each(FOUND)('$title', async ({ program, args, result }) => {
    const { run, vm } = await loadProgram(program, { device });
    expect(await run('main', ...args)).toEqual(result);
    vm.dispose();
  });
});
