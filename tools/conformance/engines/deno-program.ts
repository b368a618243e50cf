// Runs in Deno: answers requests, one in a line, by lines on standard output.
import { createInterface } from 'node:readline';
import { keepDevice } from '../keep-device.ts';
import { caseReader } from './node-engine.ts';
import { runCase } from '../run-case.ts';
import type { DenoRequest } from './deno-engine.ts';
import { describeEngine, runOperators } from './engine-program.ts';

const { gpu } = navigator;
let keeper: ReturnType<typeof keepDevice> | undefined;

async function answer(request: DenoRequest): Promise<unknown> {
  if (request.kind === 'describe') return describeEngine(gpu);
  if (request.kind === 'operators') return runOperators(gpu, request.sample);
  const { found } = request;
  keeper ??= keepDevice({ device: 'webgpu', worker: false, gpu });
  await keeper;
  return runCase(found, { device: 'webgpu', worker: false, gpu, read: caseReader(found) });
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await answer(JSON.parse(line) as DenoRequest).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: String(error) }),
  );
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
process.exit(0);
