import { describe, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { call, func, moduleOf, variable } from '../ir/build.ts';
import type { CallExpr } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { verifyModule } from '../verify/verify-module.ts';
import { fuse } from './fuse/fuse.ts';
import { runPasses } from '../pass-table.ts';
import { placeDevices, type Placement } from './place-devices.ts';

const place = (text: string): string => printModule(runPasses(parseModule(text), [placeDevices()]));

describe('copies', () => {
  test('to the host and back, none between calls there, and none for views', () => {
    const text = `def @main(%x: Tensor[(n, 4), float64], %y: Tensor[(n, 4), float64]) {
      %0 = add(%x, %y);
      %1 = mul(reshape(%0, shape=[n * 2, 2]), reshape(%0, shape=[n * 2, 2]));
      greater(%1, 1f64)
    }`;
    expect(place(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float64], %y: Tensor[(n, 4), float64]) {
        %0 = device_copy(%x, device="host");
        %1 = device_copy(%y, device="host");
        %2 = add(%0, %1, on_device="host");
        %3 = reshape(%2, shape=[(n * 2), 2]);
        %4 = reshape(%2, shape=[(n * 2), 2]);
        %5 = mul(%3, %4, on_device="host");
        %6 = greater(%5, 1f64, on_device="host");
        device_copy(%6, device="session")
      }
      "
    `);
  });

  test('are shared by what reads them in a scope and in those inside', () => {
    const text = `def @main(%x: Tensor[(n,), float64], %c: int) {
      %0 = neg(%x);
      if (%c) { add(%x, %0) } else { mul(%0, %x) }
    }`;
    expect(place(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float64], %c: int) {
        %0 = device_copy(%x, device="host");
        %1 = neg(%0, on_device="host");
        if (%c) {
          %2 = add(%0, %1, on_device="host");
          device_copy(%2, device="session")
        } else {
          %3 = mul(%1, %0, on_device="host");
          device_copy(%3, device="session")
        }
      }
      "
    `);
  });

  test('stay inside of the branches that read them', () => {
    const text = `def @main(%x: Tensor[(n,), float64], %c: int) {
      if (%c) { abs(%x) } else { neg(%x) }
    }`;
    expect(place(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float64], %c: int) {
        if (%c) {
          %0 = device_copy(%x, device="host");
          %1 = abs(%0, on_device="host");
          device_copy(%1, device="session")
        } else {
          %2 = device_copy(%x, device="host");
          %3 = neg(%2, on_device="host");
          device_copy(%3, device="session")
        }
      }
      "
    `);
  });

  test('under the names of lets, into closures, tuples and calls', () => {
    const text = `def @main(%x: Tensor[(n,), float64]) {
      let %y = abs(%x);
      let %f = fn (%z: Tensor[(n,), float64]) { add(%y, %z) };
      (%y, %f(%y), @other(%y))
    }
    def @other(%x: Tensor[(m,), float64]) { dim(neg(%x), axis=0) }`;
    expect(place(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float64]) -> (Tensor[(n,), float64], Tensor[(n,), float64], int) {
        %0 = device_copy(%x, device="host");
        let %y: Tensor[(n,), float64] = abs(%0, on_device="host");
        let %f: fn (Tensor[(n,), float64]) -> Tensor[(n,), float64] = fn (%z: Tensor[(n,), float64]) -> Tensor[(n,), float64] {
          %1 = device_copy(%z, device="host");
          %2 = add(%y, %1, on_device="host");
          device_copy(%2, device="session")
        };
        %3 = device_copy(%y, device="session");
        %4 = %f(%3);
        %5 = @other(%3);
        (%3, %4, %5)
      }

      def @other(%x: Tensor[(m,), float64]) -> int {
        %0 = device_copy(%x, device="host");
        %1 = neg(%0, on_device="host");
        dim(%1, axis=0)
      }
      "
    `);
  });

  test('are none for constants, which are stored where they are read', () => {
    const text = `def @main(%x: Tensor[(3,), float32]) {
      (exp([1f, 2f, 3f], on_device="host"), add(%x, [1f, 2f, 3f]))
    }`;
    const module = parseModule(text);
    expect(printModule(runPasses(module, [placeDevices()]))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(3,), float32]) {
        %0 = exp([1f, 2f, 3f], on_device="host");
        %1 = device_copy(%0, device="session");
        %2 = add(%x, [1f, 2f, 3f]);
        (%1, %2)
      }
      "
    `);
  });

  test('change no value', () => {
    const text = `def @main(%x: Tensor[(2,), float64], %c: int) {
      %0 = neg(%x);
      if (%c) { add(%x, %0) } else { mul(%0, %x) }
    }`;
    const args = [HostTensor.from('float64', [2], [1, 3]), 0];
    const module = parseModule(text);
    const placed = runPasses(module, [placeDevices()]);
    expect(evaluateModule(placed, 'main', args)).toEqual(evaluateModule(module, 'main', args));
  });
});

describe('annotations', () => {
  test('force a device, and kernels are of one device', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) {
      relu(neg(exp(%x, on_device="host"), on_device="host"), on_device="session")
    }`;
    const placed = runPasses(parseModule(text), [placeDevices(), fuse]);
    expect(printModule(placed)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) {
        %0 = device_copy(%x, device="host");
        %1 = fn (%p0: Tensor[(n,), float32], primitive="exp_neg", device="host") {
          %2 = exp(%p0);
          neg(%2)
        };
        %3 = %1(%0);
        %4 = device_copy(%3, device="session");
        %5 = fn (%p0_1: Tensor[(n,), float32], primitive="relu") {
          relu(%p0_1)
        };
        %5(%4)
      }
      "
    `);
  });

  test('do not force what WebGPU has no kernels for', () => {
    const text = 'def @main(%x: Tensor[(n,), float64]) { neg(%x, on_device="session") }';
    expect(() => place(text)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: ir:1:40: got neg with on_device="session", expected a call that WebGPU has kernels for; WebGPU has no kernels for float64. Leave the annotation out, and it runs on the host.]`,
    );
  });

  test('are for operators that are kernels', () => {
    const text = 'def @main(%x: Tensor[(n,), float64]) { dim(%x, axis=0, on_device="host") }';
    expect(() => parseModule(text)).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: ir:1:40: got on_device for dim, expected it only for operators on tensors.
      1 | def @main(%x: Tensor[(n,), float64]) { dim(%x, axis=0, on_device="host") }
        |                                        ^]
    `);
    const unknown = 'def @main(%x: Tensor[(n,), float64]) { neg(%x, on_device="gpu") }';
    expect(() => parseModule(unknown)).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: ir:1:40: got on_device="gpu", expected "host" or "session".
      1 | def @main(%x: Tensor[(n,), float64]) { neg(%x, on_device="gpu") }
        |                                        ^]
    `);
    const x = variable('x', 'float64', ['n']);
    const body: CallExpr = { ...call('dim', [x], { axis: 0 }), onDevice: 'host' };
    expect(() => verifyModule(moduleOf({ main: func([x], body) }))).toThrow(
      'got on_device for dim, expected it only for operators on tensors',
    );
  });
});

test('every call on the host is reported with node and reason, and written into the executable', () => {
  const text = `def @main(%x: Tensor[(n,), float64], %y: Tensor[(n,), float32]) {
    (add(%x, %x), exp(%y, on_device="host"), neg(%y))
  }`;
  const placements: Placement[] = [];
  const executable = compile(parseModule(text), {
    onPlacement: (placement) => placements.push(placement),
  });
  expect(placements).toMatchInlineSnapshot(`
    [
      {
        "node": "ir:2:6",
        "operator": "add",
        "reason": "WebGPU has no kernels for float64",
      },
      {
        "node": "ir:2:19",
        "operator": "exp",
        "reason": "the program says on_device="host"",
      },
    ]
  `);
  expect(JSON.parse(executable.metadata['placements'] ?? '')).toEqual(placements);
  expect(executable.primitives.map(({ name, device }) => [name, device])).toEqual([
    ['add', 'host'],
    ['exp', 'host'],
    ['neg', undefined],
  ]);
});

test('a symbol of an attribute that only another tensor has is told by that, wherever it lies', () => {
  const text = `def @main(%x: Tensor[(9,), float64], %y: Tensor[(n,), float32]) {
    abs(slice(%x, starts=[n], ends=[n + 1], steps=[1]))
  }`;
  expect(printModule(runPasses(parseModule(text), [placeDevices(), fuse]))).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(9,), float64], %y: Tensor[(n,), float32]) {
      %0 = device_copy(%x, device="host");
      %1 = fn (%p0: Tensor[(9,), float64], %p1: Tensor[(n,), float32], primitive="slice_abs", device="host") {
        %2 = slice(%p0, starts=["n"], ends=[(n + 1)], steps=[1]);
        abs(%2)
      };
      %3 = %1(%0, %y);
      device_copy(%3, device="session")
    }
    "
  `);
});
