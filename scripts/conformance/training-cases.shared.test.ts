import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { findCases } from './find-cases.ts';
import { runCase } from './run-case.ts';

const CASES = findCases(sharedPath('onnx/training'));

test('the cases are there', () => {
  expect(CASES.length).toBe(17);
});

describe.each(['host', 'wasm', 'webgpu'] as const)("ONNX's cases of training on %s", (device) => {
  test.each(CASES)('$name', async (found) => {
    const outcomes = await runCase(found, {
      device,
      worker: false,
      read: async (file) => new Uint8Array(readFileSync(join(found.folder, file))),
      ...(device === 'webgpu' && { gpu: await nodeGpu() }),
    });
    expect(outcomes.map(({ reason }) => reason ?? 'passed')).toEqual(
      found.dataSets.map(() => 'passed'),
    );
  });
});
