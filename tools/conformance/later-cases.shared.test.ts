import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { findCases } from './find-cases.ts';
import { runCase } from './run-case.ts';

/** Folders of cases that are not in the run of all of them. */
const FOLDERS = { preview: 7, random: 3, sequence: 24, training: 17 };

describe.each(Object.entries(FOLDERS))("ONNX's cases of %s", (folder, count) => {
  const cases = findCases(sharedPath(`onnx/${folder}`));

  test('are there', () => {
    expect(cases.length).toBe(count);
  });

  describe.each(['host', 'wasm', 'webgpu'] as const)('on %s', (device) => {
    test.each(cases)('$name', async (found) => {
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
});
