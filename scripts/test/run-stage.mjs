// Runs one stage and says how it went.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isContinuousIntegration, root } from './stages.mjs';

/** Resolves to whether a command passed. */
function run({ command, env }) {
  const wrapper = join(root, 'scripts/with-gpu.mjs');
  const child = spawn(process.execPath, [wrapper, ...command], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}

/** A stage that lacks something fails where it is demanded, and else is named as not run. */
function withoutNeeds({ title, isDemanded = isContinuousIntegration }, missing) {
  const mustRun = isDemanded();
  console.log(`\n== ${title}: ${mustRun ? 'FAILED' : 'not run'}: ${missing}`);
  const counts = { passed: 0, failed: mustRun ? 1 : 0, skipped: 0 };
  return { title, ...counts, seconds: 0, ...(mustRun ? {} : { missing }) };
}

/**
 * `{ title, passed, failed, skipped, failures, seconds, missing }`; `failures` name tests where a report
 * does, `missing` is why a stage did not run.
 */
export async function runStage(stage) {
  const missing = stage.needs?.();
  if (missing !== undefined) return withoutNeeds(stage, missing);
  console.log(`\n== ${stage.title}: ${stage.command.slice(0, 2).join(' ')}`);
  const startedAt = Date.now();
  const hasPassed = await run(stage);
  const seconds = (Date.now() - startedAt) / 1000;
  console.log(`== ${stage.title}: ${hasPassed ? 'passed' : 'FAILED'} in ${seconds.toFixed(1)} s`);
  const counts = stage.count?.() ?? { passed: hasPassed ? 1 : 0, failed: 0, skipped: 0 };
  // A runner that fails for another reason than a test still counts.
  if (!hasPassed && counts.failed === 0) counts.failed = 1;
  return { title: stage.title, ...counts, seconds };
}
