import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import type { Outcome } from './conformance-case.ts';
import { findCases } from './find-cases.ts';
import { runCase } from './run-case.ts';

const FOLDERS = ['node', 'pytorch-converted', 'pytorch-operator', 'simple', 'preview', 'sequence'];

/** What needs a size that weights have in models: of kernels, heads, channels and tuples of indices. */
const REFUSED = /^UnsupportedError: .* expected a number at compile time\./;
/** One zero point or as many as rows: which of them must be known. */
const ZERO_POINTS = /^ShapeError: .* expected u?int8, one or as many as axis -2 has\./;

function expectRight({ status, reason = '' }: Outcome): void {
  if (status === 'skipped') expect(reason).toMatch(REFUSED);
  else if (!ZERO_POINTS.test(reason)) expect(reason).toBe('');
}

describe.each(['host', 'wasm', 'webgpu'] as const)("ONNX's cases without sizes on %s", (device) => {
  const counts = { passed: 0, failed: 0, skipped: 0 };

  describe.each(FOLDERS)('%s', (folder) => {
    test.each(findCases(sharedPath(`onnx/${folder}`)))('$name', async (found) => {
      const outcomes = await runCase(found, {
        device,
        worker: false,
        read: async (file) => new Uint8Array(readFileSync(join(found.folder, file))),
        unbound: true,
        ...(device === 'webgpu' && { gpu: await nodeGpu() }),
      });
      for (const { status } of outcomes) counts[status]++;
      for (const outcome of outcomes) expectRight(outcome);
    });
  });

  test('few are refused', () => {
    expect(counts.failed).toBeLessThanOrEqual(7);
    expect(counts.skipped).toBeLessThanOrEqual(100);
    expect(counts.passed).toBeGreaterThan(800);
  });
});
