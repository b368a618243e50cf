import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { findCases } from '../../tools/conformance/find-cases.ts';
import { runCase } from '../../tools/conformance/run-case.ts';

const models = findCases(fileURLToPath(new URL('../../models', import.meta.url)));

test.each(
  models.flatMap((model) =>
    (['host', 'webgpu'] as const).map((device) => [model.name, device, model] as const),
  ),
)('the built package runs %s.onnx on %s', async (_, device, model) => {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  const read = async (file: string) => new Uint8Array(readFileSync(join(model.folder, file)));
  const outcomes = await runCase(model, { device, ...gpu, worker: false, read });
  expect(outcomes.map(({ reason }) => reason)).toEqual(model.dataSets.map(() => undefined));
});
