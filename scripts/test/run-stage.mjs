// Runs one stage and says how it went.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isContinuousIntegration, root } from './stages.mjs';

/** Resolves to whether a command passed. Its output goes to `write`, or else where that of this process goes. */
function run({ command, env }, write) {
  const wrapper = join(root, 'scripts/with-gpu.mjs');
  const child = spawn(process.execPath, [wrapper, ...command], {
    cwd: root,
    stdio: write === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', write);
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    // Not `exit`, after which there may be output still.
    child.on('close', (code) => resolve(code === 0));
  });
}

/** A stage that lacks something fails where it is demanded, and else is named as not run. */
function withoutNeeds({ title, isDemanded = isContinuousIntegration }, missing, say) {
  const mustRun = isDemanded();
  say(`\n== ${title}: ${mustRun ? 'FAILED' : 'not run'}: ${missing}`);
  const counts = { passed: 0, failed: mustRun ? 1 : 0, skipped: 0 };
  return { title, ...counts, seconds: 0, ...(mustRun ? {} : { missing }) };
}

/**
 * `{ title, passed, failed, skipped, failures, seconds, missing }`; `failures` are those of a report, each
 * `{ text, command }`, `missing` is why a stage did not run. All output goes to `write`, if there is one.
 */
export async function runStage(stage, write) {
  const say = write === undefined ? console.log : (line) => write(`${line}\n`);
  const missing = stage.needs?.();
  if (missing !== undefined) return withoutNeeds(stage, missing, say);
  say(`\n== ${stage.title}: ${stage.command.slice(0, 2).join(' ')}`);
  const startedAt = Date.now();
  const hasPassed = await run(stage, write);
  const seconds = (Date.now() - startedAt) / 1000;
  say(`== ${stage.title}: ${hasPassed ? 'passed' : 'FAILED'} in ${seconds.toFixed(1)} s`);
  const counts = stage.count?.() ?? { passed: hasPassed ? 1 : 0, failed: 0, skipped: 0 };
  // A runner that fails for another reason than a test still counts.
  if (!hasPassed && counts.failed === 0) {
    counts.failed = 1;
    const command = `npm test -- '${stage.title}'`;
    counts.failures = [{ text: `${stage.command.join(' ')} failed; see above`, command }];
  }
  return { title: stage.title, ...counts, seconds };
}
