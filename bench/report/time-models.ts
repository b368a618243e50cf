import type { BenchCase, BenchDevice } from '../cases/bench-case.ts';
import { startRequest } from '../contestants.ts';
import { METHODS } from '../methods.ts';
import { ContestantSteps } from '../page/contestant-steps.ts';
import { start } from '../page/weft.ts';
import { Race, type RuntimeResult } from '../race.ts';
import { modelCase, type ReportModel } from './model-case.ts';

/** A warm run of a whole model: inputs and outputs in the page. */
export interface ModelTime {
  readonly name: string;
  readonly title: string;
  readonly device: BenchDevice;
  readonly result: RuntimeResult;
}

/** Of the time of a section that one race may take. */
const RACE_MS = 8000;

/** The models on WebGPU, and on the processor beside it. */
export async function timeModel(model: ReportModel, device: BenchDevice): Promise<ModelTime> {
  const { name, title } = model;
  return { name, title, device, result: await timeCase(await modelCase(model), device) };
}

async function timeCase(benchCase: BenchCase, device: BenchDevice): Promise<RuntimeResult> {
  const steps = new ContestantSteps({ weft: () => Promise.resolve(start) });
  const method = { ...METHODS[device], budgetMs: RACE_MS };
  const race = new Race(steps, { method, runs: method.rounds });
  try {
    const request = startRequest({ device, threads: 1 });
    await race.enter({ name: 'weft', benchCase, request });
    await race.run();
    const { weft } = await race.finish(benchCase);
    return weft ?? { failure: 'no result' };
  } finally {
    await steps.stop('weft');
  }
}
