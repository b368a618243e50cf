import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import type { Outcome } from './conformance-case.ts';
import { findCases, type FoundCase } from './find-cases.ts';
import { runCase } from './run-case.ts';

const MODELS = sharedPath('models');

/** The real models that are small enough for a unit test. */
const SMALL = ['mnist-cntk', 'mnist-pytorch-cnn'];
const HOST_ONLY = ['squeezenet-coreml'];

function run(found: FoundCase, gpu?: GPU): Promise<Outcome[]> {
  return runCase(found, {
    device: gpu === undefined ? 'host' : 'webgpu',
    worker: false,
    read: async (file) => new Uint8Array(readFileSync(join(found.folder, file))),
    ...(gpu === undefined ? {} : { gpu }),
  });
}

async function expectPassed(name: string, gpu?: GPU): Promise<void> {
  const found = findCases(MODELS).find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`The model ${name} is missing below ${MODELS}.`);
  const outcomes = await run(found, gpu);
  expect(outcomes.map(({ dataSet, reason }) => [dataSet, reason ?? 'passed'])).toEqual(
    found.dataSets.map((dataSet) => [dataSet.name, 'passed']),
  );
}

test.each([...SMALL, ...HOST_ONLY])('%s on the host device', (name) => expectPassed(name));

test.each(SMALL)('%s on WebGPU', async (name) => expectPassed(name, await nodeGpu()));
