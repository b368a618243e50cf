import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../../src/core/random.ts';
import { findCases } from '../find-cases.ts';
import type { Engine, Sample } from './engine.ts';
import type { Count, EngineResult } from './engine-result.ts';
import { type EngineName, openEngine } from './open-engine.ts';
import { runBrowserTests } from './run-browser-tests.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Models that Weft does not take, and files of results that are no tensors. */
const REFUSED = /^(UnsupportedError: |FormatError: tensor file: )/;

interface RunOptions extends Sample {
  readonly hasBrowserTests: boolean;
}

/** Runs all that there is to run in an engine, or a share of it that a seed draws. */
export async function runEngine(name: EngineName, options: RunOptions): Promise<EngineResult> {
  const engine = await openEngine(name);
  const startedAt = Date.now();
  const report = (text: string): void => {
    console.log(
      `${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${engine.title}: ${text}`,
    );
  };
  const reportCases = (of: string, { passed, total, refused = [] }: Count): void =>
    report(`${passed} of ${total} ${of}, ${refused.length} refused`);
  let result: EngineResult;
  try {
    const facts = await engine.describe();
    report(`${facts.adapter}, as ${facts.adapterClass}`);
    const { caseCount, failures } = await engine.runOperators(options);
    const operators = { passed: caseCount - failures.length, total: caseCount, failures };
    report(`${operators.passed} of ${caseCount} operator cases`);
    // Models are few, so that all of them are run; a share of 1 has nothing to draw.
    const all = { ...options, share: 1 };
    const ownModels = await runCases(engine, path('../../../models'), all);
    reportCases('data sets of our models', ownModels);
    const sharedModels = await runShared(engine, path('../../../../shared/models'), all);
    if (sharedModels !== undefined)
      reportCases('data sets of the models in ../shared', sharedModels);
    const onnxCases = await runShared(engine, path('../../../../shared/onnx'), options);
    if (onnxCases !== undefined) reportCases('ONNX cases', onnxCases);
    const title = engine.title;
    result = {
      title,
      facts,
      operators,
      ownModels,
      sharedModels,
      onnxCases,
      browserTests: undefined,
    };
  } finally {
    await engine.close();
  }
  if (!options.hasBrowserTests || name === 'node' || name === 'deno') return result;
  return { ...result, browserTests: await runBrowserTests(name) };
}

async function runShared(
  engine: Engine,
  folder: string,
  sample: Sample,
): Promise<Count | undefined> {
  return existsSync(folder) ? runCases(engine, folder, sample) : undefined;
}

async function runCases(engine: Engine, folder: string, { share, seed }: Sample): Promise<Count> {
  const random = seededRandom(seed);
  const failures: string[] = [];
  const refused: string[] = [];
  let passed = 0;
  for (const found of findCases(folder)) {
    if (random() >= share) continue;
    for (const { status, caseName, dataSet, reason = '' } of await engine.run(found)) {
      const line = `${caseName} ${dataSet}`;
      if (status === 'passed') passed++;
      else if (REFUSED.test(reason)) refused.push(line);
      else failures.push(`${line}: ${reason}`);
    }
  }
  return { passed, total: passed + failures.length, failures, refused };
}
