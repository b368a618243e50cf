import { describe, expect, test } from 'vitest';
import type { DeviceRates } from '../../../core/contracts/device-rates.ts';
import { compile } from '../../compile.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { printModule } from '../../ir/text/print.ts';
import { equalModules } from '../../ir/walk/structural-equal.ts';
import { runPasses } from '../../pass-table.ts';
import { verifyModule } from '../../verify/verify-module.ts';
import { placeDevices, type Placement } from '../place-devices.ts';
import { assignDevices } from './assign-devices.ts';

/** Fast at large kernels, slow to begin any. */
const WEBGPU: DeviceRates = { roundTripMs: 1, launchMs: 1, operationsPerMs: 1e9, bytesPerMs: 1e9 };
const WASM: DeviceRates = { roundTripMs: 0, launchMs: 1e-3, operationsPerMs: 1e6, bytesPerMs: 1e6 };
const RATES = { webgpu: WEBGPU, wasm: WASM };

/** A product worth 33 ms on wasm, then many small reductions. */
const BOTH = `def @main(%x: Tensor[(256, 256), float32]) {
  %0 = softmax(matmul(%x, %x), axis=1);
  %1 = reduce_sum(%0, axes=[0], keepdims=true);
  %2 = softmax(%1, axis=1);
  %3 = cumulative(%2, axis=1);
  %4 = softmax(%3, axis=1);
  %5 = cumulative(%4, axis=1);
  softmax(%5, axis=1)
}`;

const assign = (text: string, rates = RATES) =>
  runPasses(parseModule(text), [assignDevices({ rates })]);

describe('assign-devices', () => {
  test('puts small kernels beside WebGPU and leaves large ones there', () => {
    expect(printModule(assign(BOTH))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(256, 256), float32]) {
        %0 = matmul(%x, %x, on_device="session");
        %1 = softmax(%0, axis=1, on_device="host");
        %2 = reduce_sum(%1, axes=[0], keepdims=true, on_device="host");
        %3 = softmax(%2, axis=1, on_device="host");
        %4 = cumulative(%3, axis=1, on_device="host");
        %5 = softmax(%4, axis=1, on_device="host");
        %6 = cumulative(%5, axis=1, on_device="host");
        softmax(%6, axis=1, on_device="host")
      }
      "
    `);
  });

  test('leaves text that is well-typed, reads again and stays as it is', () => {
    const module = assign(BOTH);
    verifyModule(module);
    expect(equalModules(parseModule(printModule(module)), module)).toBe(true);
    expect(runPasses(module, [assignDevices({ rates: RATES })])).toBe(module);
    const placed = runPasses(module, [placeDevices()]);
    expect(runPasses(placed, [assignDevices({ rates: RATES }), placeDevices()])).toEqual(placed);
  });

  test('counts copies: a kernel between two of WebGPU is not worth two of them', () => {
    const module = parseModule(`def @main(%x: Tensor[(256, 256), float32]) {
      matmul(softmax(matmul(%x, %x), axis=1), %x)
    }`);
    expect(runPasses(module, [assignDevices({ rates: RATES })])).toEqual(runPasses(module, []));
    const near = { ...RATES, webgpu: { ...WEBGPU, roundTripMs: 0, launchMs: 0.3 } };
    const far = { ...near, webgpu: { ...near.webgpu, bytesPerMs: 10 } };
    expect(printModule(runPasses(module, [assignDevices({ rates: far })]))).toContain('"host"');
  });

  test('everything goes where everything is faster, with a copy of what goes in and out', () => {
    const slow = { ...RATES, webgpu: { ...WEBGPU, launchMs: 100 } };
    expect(
      printModule(runPasses(assign(BOTH, slow), [placeDevices()])).match(/device_copy/g),
    ).toEqual(['device_copy', 'device_copy']);
  });

  test('what a program annotates stays there, and what WebGPU cannot run goes beside it', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %y: Tensor[(n,), float64]) {
      (neg(%y), exp(%x, on_device="session"), tanh(%x, on_device="host"))
    }`;
    const slow = { ...RATES, webgpu: { ...WEBGPU, launchMs: 100 } };
    expect(printModule(assign(text, slow))).toBe(printModule(assign(text)));
    expect(assign(text)).toEqual(runPasses(parseModule(text), []));
  });

  test('sizes that are symbols count as usual ones, within the bounds of a clone', () => {
    const text = `def @main(%x: Tensor[(n, m), float32]) { softmax(cumulative(%x, axis=1), axis=1) }`;
    const rates = { ...RATES, webgpu: { ...WEBGPU, launchMs: 0.6, roundTripMs: 0.1 } };
    // 1 by 128 elements: the launches take longer than the copies.
    expect(printModule(assign(text, rates))).toContain('on_device="host"');
    const executable = compile(parseModule(text), {
      devices: ['webgpu', 'wasm'],
      rates,
      dispatch: {
        main: {
          x: {
            1: [
              [1, 1024],
              [1_000_000, 2_000_000],
            ],
          },
        },
      },
    });
    const devices = executable.primitives.map(({ device }) => device);
    expect(devices).toContain('host');
    expect(devices).toContain(undefined);
  });
});

test('a compilation tells the calls with the reason', () => {
  const placements: Placement[] = [];
  const executable = compile(parseModule(BOTH), {
    devices: ['webgpu', 'wasm'],
    rates: RATES,
    onPlacement: (placement) => placements.push(placement),
  });
  expect(placements.map(({ operator }) => operator)).toMatchInlineSnapshot(`
    [
      "softmax",
      "reduce_sum",
      "softmax",
      "cumulative",
      "softmax",
      "cumulative",
      "softmax",
    ]
  `);
  expect(new Set(placements.map(({ reason }) => reason))).toMatchInlineSnapshot(`
    Set {
      "by an estimate the program takes less time so",
    }
  `);
  expect(JSON.parse(executable.metadata['placements'] ?? '')).toEqual(placements);
});

test('other devices are refused', () => {
  const devices = JSON.parse('["wasm", "webgpu"]');
  expect(() => compile(parseModule(BOTH), { devices })).toThrowErrorMatchingInlineSnapshot(
    `[UsageError: devices: got ["wasm","webgpu"], expected ["webgpu", "wasm"]. Leave it out for a program on one device.]`,
  );
});
